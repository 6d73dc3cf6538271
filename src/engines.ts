import { resolve } from "node:path";
import type { Config } from "./config.ts";
import { ServiceError } from "./domain/errors.ts";
import type { Log } from "./domain/events.ts";
import type { ImportPreview } from "./domain/import-preview.ts";
import type { Clock, Limiter, Store } from "./domain/ports.ts";
import { createStoreStates, type StoreStates } from "./domain/store-states.ts";
import type { Migration, UpgradeCheck } from "./domain/upgrades.ts";
import { isFileError, reasonOf } from "./file-errors.ts";
import { createLocalLimiter } from "./limits/local.ts";
import { createSharedLimiter } from "./limits/shared.ts";
import { printError } from "./output.ts";
import type { Database } from "./store/postgres/engine/database.ts";
import { filesOf, type StoreFiles } from "./store/sqlite/engine/files.ts";
import { lockForServing } from "./store/sqlite/engine/serving-lock.ts";

export const systemClock: Clock = { now: () => Date.now() };

// A process loads only the engine that it opens, so that commands start fast.
const loadSqlite = () => import("./store/sqlite/store.ts");
const loadPostgres = async () => ({
  ...(await import("./store/postgres/store.ts")),
  ...(await import("./store/postgres/engine/database.ts")),
});

/** A store and the rate limiter that fits it. */
export interface Engine {
  readonly name: "SQLite" | "PostgreSQL";
  /** The version of the store's schema. */
  readonly schema: number;
  /** Logs when the store is lost and back. */
  readonly states: StoreStates;
  readonly store: Store;
  readonly limiter: Limiter;
  /** Whether other processes may serve the same store. */
  readonly isShared: boolean;
  /** How long the first read of the inventory is retried if the database is unavailable. */
  readonly patienceMs: number;
  /** Opens every connection that is not open. Returns false if one cannot be opened. */
  connect(): Promise<boolean>;
  readonly figures: EngineFigures;
}

/** What metrics show of an engine. */
export type EngineFigures =
  | { readonly engine: "sqlite"; readonly files: Pick<StoreFiles, "database" | "wal"> }
  | ({ readonly engine: "postgres" } & Pick<Database, "traffic" | "countConnections">);

export interface EngineOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly databaseClock?: Clock | undefined;
  readonly log: Log;
}

/** Opens the engine that the database address names. `opened` closes it. */
export function openEngine(options: EngineOptions, opened: AsyncDisposableStack): Promise<Engine> {
  const path = sqlitePath(options.config);
  return path === undefined
    ? openPostgresEngine(options, opened)
    : openSqliteEngine(path, options, opened);
}

/** Only one process may serve from a SQLite file, so it counts requests in memory. */
async function openSqliteEngine(
  path: string,
  { config, clock, log }: EngineOptions,
  opened: AsyncDisposableStack,
): Promise<Engine> {
  const { environment } = config;
  const { openSqlite, sqliteSchema } = await loadSqlite();
  const events = {
    onCreated: () => log("store created", { store: path, schema: sqliteSchema }),
    onMigrated: logMigration(path, log),
  };
  const store = await namingFile(path, async () => {
    opened.defer(lockForServing(path));
    return openSqlite({ path, environment, clock, threaded: true, log, ...events });
  });
  opened.defer(() => store.close());
  const { canWrite } = store.inventory;
  const states = createStoreStates({ log, isShared: false, canWrite });
  const usage = states.observeUsage(store.usage);
  const limiter = await createLocalLimiter({ usage, clock, rules: config.ban, log });
  opened.defer(() => limiter.close());
  return {
    name: "SQLite",
    schema: sqliteSchema,
    states,
    store,
    limiter,
    isShared: false,
    patienceMs: 0,
    connect: async () => true,
    figures: { engine: "sqlite", files: filesOf(path) },
  };
}

/** A request that has not been counted after this time receives 503. */
const limiterDeadlineMs = 2_000;

/**
 * Several processes share a PostgreSQL database, so they count requests in it, by its clock. A
 * database that is still starting is retried, because machines that start together start in any
 * order.
 */
async function openPostgresEngine(
  { config, databaseClock: clock, log }: EngineOptions,
  opened: AsyncDisposableStack,
): Promise<Engine> {
  const { createDatabase, openPostgres, postgresSchema } = await loadPostgres();
  const { createSharedUsage } = await import("./store/postgres/usage.ts");
  const database = createDatabase(config.databaseUrl, log);
  const { environment, ban: rules, databasePatienceMs: patienceMs } = config;
  const events = {
    onCreated: () => log("store created", { store: database.label, schema: postgresSchema }),
    onMigrated: logMigration(database.label, log),
  };
  const store = await openPostgres({
    database,
    environment,
    clock,
    patienceMs,
    log,
    ...events,
  });
  opened.defer(() => store.close());
  const { query } = database.connection(limiterDeadlineMs);
  const usage = createSharedUsage(query, clock);
  const limiter = createSharedLimiter({ usage, rules, log });
  opened.defer(() => limiter.close());
  database.watch();
  const { canWrite } = store.inventory;
  const { traffic, countConnections, openConnections: connect } = database;
  return {
    name: "PostgreSQL",
    schema: postgresSchema,
    states: createStoreStates({ log, isShared: true, canWrite }),
    store,
    limiter,
    isShared: true,
    patienceMs,
    connect,
    figures: { engine: "postgres", traffic, countConnections },
  };
}

function logMigration(store: string, log: Log): (migration: Migration) => void {
  return ({ from, to, durationMs, backup }) => {
    if (backup) {
      log("backup before migration", { ...backup, durationMs: Math.round(backup.durationMs) });
    }
    const versions = { from: from.version, to: to.version };
    log("store migrated", { store, ...versions, durationMs: Math.round(durationMs) });
  };
}

/** For commands, which have no log. */
function printMigration({ from, to, durationMs, backup }: Migration): void {
  const took = `${(durationMs / 1_000).toFixed(1)} s`;
  const copy = backup ? `; a backup from before is in ${backup.file}` : "";
  printError(`migrated the store from schema ${from.version} to ${to.version} in ${took}${copy}`);
}

/** The file that a database address names; undefined for a database server. */
export function sqlitePath({ databaseUrl }: Config): string | undefined {
  if (!databaseUrl.startsWith("sqlite:")) return undefined;
  return resolve(databaseUrl.slice("sqlite:".length).replace(/^\/\/(?=\/)/, ""));
}

/** Opens the store that the database address names, for a command that does one thing and ends. */
export function openStore(
  config: Config,
  clock: Clock,
  onCreated?: (place: string) => void,
): Promise<Store> {
  return open(config, clock, { mayCreate: true, onCreated });
}

/** Same as `openStore`, but rejects if there is no store. A wrong path would look like an empty store. */
export function openExistingStore(config: Config, clock: Clock): Promise<Store> {
  return open(config, clock, { mayCreate: false });
}

/** Same as `openExistingStore`, but returns undefined if there is no store. */
export async function findStore(config: Config, clock: Clock): Promise<Store | undefined> {
  try {
    return await openExistingStore(config, clock);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return undefined;
    throw error;
  }
}

/**
 * Runs the preview of one import into a store that does not exist, and creates nothing. The rules are
 * the same for both engines.
 */
export async function withEmptyStore<T>(
  { environment }: Config,
  work: (preview: ImportPreview) => Promise<T>,
): Promise<T> {
  const { createPreview } = await import("./store/sqlite/previews.ts");
  const { openEmpty, useConnection } = await import("./store/sqlite/engine/connection.ts");
  return useConnection(openEmpty(environment), (database) => work(createPreview(database)));
}

interface Creation {
  readonly mayCreate: boolean;
  /** Called with the full path of a new store, or with the host and the database. */
  readonly onCreated?: ((place: string) => void) | undefined;
}

async function open(
  config: Config,
  clock: Clock,
  { mayCreate, onCreated }: Creation,
): Promise<Store> {
  const { databaseUrl, environment } = config;
  const path = sqlitePath(config);
  if (path !== undefined) {
    const { openSqlite } = await loadSqlite();
    const events = { onCreated: () => onCreated?.(path), onMigrated: printMigration };
    const options = { path, environment, clock, threaded: false, mayCreate, ...events };
    return namingFile(path, () => openSqlite(options));
  }
  const { createDatabase, openPostgres } = await loadPostgres();
  const database = createDatabase(databaseUrl);
  const events = { onCreated: () => onCreated?.(database.label), onMigrated: printMigration };
  return openPostgres({ database, environment, patienceMs: 0, mayCreate, ...events });
}

/** Adds the path to errors of opening a file, for the operator. */
async function namingFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = fileReason(path, error);
    if (reason === undefined) throw error;
    throw new ServiceError("unavailable", `cannot open the store ${path}: ${reason}`);
  }
}

function fileReason(path: string, error: unknown): string | undefined {
  if (isFileError(error)) {
    const { path: file = path } = error;
    return file === path ? reasonOf(error) : `${file}: ${reasonOf(error)}`;
  }
  const isNamed = !(error instanceof ServiceError) || error.message.includes(path);
  if (isNamed || error.code !== "unavailable") return undefined;
  return error.message.replace(/^The /, "the ").replace(/\.$/, "");
}

/** The same error with the file's path, if the store of a command failed and is a file. */
export function withStorePath(config: Config, error: unknown): unknown {
  const path = sqlitePath(config);
  if (path === undefined || !(error instanceof ServiceError) || !error.reason) return error;
  return new ServiceError(error.code, `${path}: ${error.message}`);
}

/** Throws if the database address names a file that is not there. */
export async function assertStoreFile(config: Config): Promise<void> {
  const path = sqlitePath(config);
  if (path === undefined) return;
  const { assertStore } = await import("./store/sqlite/engine/existence.ts");
  await namingFile(path, async () => assertStore(path));
}

/** Reads what a start would migrate. Changes nothing. */
export async function openUpgradeCheck(config: Config): Promise<UpgradeCheck & AsyncDisposable> {
  const { databaseUrl, environment } = config;
  const path = sqlitePath(config);
  if (path !== undefined) {
    await assertStoreFile(config);
    const { checkSqliteUpgrade } = await import("./store/sqlite/upgrade.ts");
    const open = async () => checkSqliteUpgrade(path, environment, systemClock);
    const check = await namingFile(path, open);
    return { ...check, [Symbol.asyncDispose]: async () => {} };
  }
  const { createDatabase } = await loadPostgres();
  const { checkPostgresUpgrade } = await import("./store/postgres/upgrade.ts");
  const database = createDatabase(databaseUrl);
  const check = await checkPostgresUpgrade(database, environment);
  return { ...check, [Symbol.asyncDispose]: async () => database.close() };
}

/** Prevents services from using a SQLite file while it is moved. Returns what releases the lock. */
export function lockStore(config: Config): () => void {
  const path = sqlitePath(config);
  return path === undefined ? () => {} : lockForServing(path);
}
