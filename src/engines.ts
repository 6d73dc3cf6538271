import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "./config.ts";
import { ServiceError } from "./domain/errors.ts";
import type { Log } from "./domain/events.ts";
import type { Clock, Limiter, Store } from "./domain/ports.ts";
import type { Migration, UpgradeCheck } from "./domain/upgrades.ts";
import { createLocalLimiter } from "./limits/local.ts";
import { createSharedLimiter } from "./limits/shared.ts";
import { printError } from "./output.ts";
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
  readonly store: Store;
  readonly limiter: Limiter;
  /** Whether other processes may serve the same store. */
  readonly isShared: boolean;
  /** How long the first read of the inventory is retried if the database is unavailable. */
  readonly patienceMs: number;
  /** Opens every connection that is not open. Returns false if one cannot be opened. */
  connect(): Promise<boolean>;
}

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
  opened.defer(lockForServing(path));
  const { environment } = config;
  const { openSqlite } = await loadSqlite();
  const onMigrated = logMigration(log);
  const store = await openSqlite({ path, environment, clock, threaded: true, log, onMigrated });
  opened.defer(() => store.close());
  const limiter = await createLocalLimiter({ usage: store.usage, clock, rules: config.ban, log });
  opened.defer(() => limiter.close());
  return { store, limiter, isShared: false, patienceMs: 0, connect: async () => true };
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
  const { createDatabase, openPostgres } = await loadPostgres();
  const { createSharedUsage } = await import("./store/postgres/usage.ts");
  const database = createDatabase(config.databaseUrl, log);
  const { environment, ban: rules, databasePatienceMs: patienceMs } = config;
  const onMigrated = logMigration(log);
  const store = await openPostgres({ database, environment, clock, patienceMs, onMigrated });
  opened.defer(() => store.close());
  const { query } = database.connection(limiterDeadlineMs);
  const usage = createSharedUsage(query, clock);
  const limiter = createSharedLimiter({ usage, rules, log });
  opened.defer(() => limiter.close());
  database.watch();
  return { store, limiter, isShared: true, patienceMs, connect: database.openConnections };
}

function logMigration(log: Log): (migration: Migration) => void {
  return ({ from, to, durationMs, backup }) => {
    if (backup) log("backup before migration", { ...backup, durationMs: Math.round(backup.durationMs) });
    log("migrated", { from: from.version, to: to.version, durationMs: Math.round(durationMs) });
  };
}

/** For commands, which have no log. */
function printMigration({ from, to, durationMs, backup }: Migration): void {
  const took = `${(durationMs / 1_000).toFixed(1)} s`;
  const copy = backup ? `; a backup from before is in ${backup.file}` : "";
  printError(`migrated the store from schema ${from.version} to ${to.version} in ${took}${copy}`);
}

/** The file that a database address names; undefined for a database server. */
function sqlitePath({ databaseUrl }: Config): string | undefined {
  if (!databaseUrl.startsWith("sqlite:")) return undefined;
  return resolve(databaseUrl.slice("sqlite:".length).replace(/^\/\/(?=\/)/, ""));
}

/** Opens the store that the database address names, for a command that does one thing and ends. */
export async function openStore(config: Config, clock: Clock): Promise<Store> {
  const { databaseUrl, environment } = config;
  const path = sqlitePath(config);
  if (path !== undefined) {
    const { openSqlite } = await loadSqlite();
    const onMigrated = printMigration;
    return openSqlite({ path, environment, clock, threaded: false, onMigrated });
  }
  const { createDatabase, openPostgres } = await loadPostgres();
  const database = createDatabase(databaseUrl);
  return openPostgres({ database, environment, patienceMs: 0, onMigrated: printMigration });
}

/** Same as `openStore`, but does not create a SQLite file. A wrong path would look like an empty store. */
export async function openExistingStore(config: Config, clock: Clock): Promise<Store> {
  const path = sqlitePath(config);
  if (path !== undefined && !existsSync(path)) throw noStore(path);
  return openStore(config, clock);
}

function noStore(path: string): ServiceError {
  return new ServiceError("not_found", `there is no store at ${path}; check --database`);
}

/** Reads what a start would migrate. Changes nothing. */
export async function openUpgradeCheck(config: Config): Promise<UpgradeCheck & AsyncDisposable> {
  const { databaseUrl, environment } = config;
  const path = sqlitePath(config);
  if (path !== undefined) {
    if (!existsSync(path)) throw noStore(path);
    const { checkSqliteUpgrade } = await import("./store/sqlite/upgrade.ts");
    const check = checkSqliteUpgrade(path, environment, systemClock);
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
