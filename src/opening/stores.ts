import type { Config } from "../config.ts";
import type { ImportPreview } from "../domain/catalogue/import-preview.ts";
import type { StoreInspection } from "../domain/operations/inspection.ts";
import type { Clock } from "../domain/running/clock.ts";
import { ServiceError } from "../domain/running/errors.ts";
import type { Store } from "../domain/store.ts";
import { printError } from "../output.ts";
import { lockForServing } from "../store/sqlite/engine/serving-lock.ts";
import type { ServiceStaging } from "../store/sqlite/ports.ts";
import { openOrCreate } from "./creation.ts";
import { loadPostgres, loadSqlite } from "./engines.ts";
import { causeOf, namingFile, sqlitePath } from "./store-file.ts";

/**
 * Opens the store that the database address names, for a command that does one thing and ends. Creates
 * a missing one, unless there are backups of it.
 */
export function openOrCreateStore(
  config: Config,
  clock: Clock,
  onCreated?: (place: string) => void,
): Promise<Store> {
  return openOrCreate(config, (mayCreate) => open(config, clock, { mayCreate, onCreated }));
}

/**
 * Opens a store that gets all its content from a backup or from another store, and creates it even if it
 * has backups. On PostgreSQL, missing tables are created together with their content.
 */
export function openToFill(
  config: Config,
  clock: Clock,
  onCreated?: (place: string) => void,
): Promise<Store> {
  return open(config, clock, { mayCreate: true, isFilled: true, onCreated });
}

/** What a command does with a store. A store that is opened for reading is not changed. */
export type Use = "reads" | "writes";

/** The settings that an existing store needs. */
export type WorkedStore = Pick<Config, "databaseUrl" | "environment" | "replicaCheck">;

/** Opens a store that must exist. A wrong path would look like an empty store. */
export function openExistingStore(
  config: WorkedStore,
  clock: Clock,
  use: Use,
  staging?: ServiceStaging,
): Promise<Store> {
  return open(config, clock, { mayCreate: false, isReadOnly: use === "reads", staging });
}

/** Same as `openExistingStore`, but returns undefined if there is no store. */
export async function findStore(config: Config, clock: Clock, use: Use) {
  try {
    return await openExistingStore(config, clock, use);
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
  const { createPreview } = await import("../store/sqlite/staging.ts");
  const { openEmpty, useConnection } = await import("../store/sqlite/engine/connection.ts");
  return useConnection(openEmpty(environment), (database) => work(createPreview(database)));
}

interface Opening {
  readonly mayCreate: boolean;
  readonly isFilled?: boolean;
  readonly isReadOnly?: boolean;
  /** Called with the full path of a new store, or with the host and the database. */
  readonly onCreated?: ((place: string) => void) | undefined;
  readonly staging?: ServiceStaging | undefined;
}

async function open(
  config: WorkedStore,
  clock: Clock,
  { mayCreate, isFilled, isReadOnly, onCreated, staging }: Opening,
): Promise<Store> {
  const { databaseUrl, environment } = config;
  const path = sqlitePath(config);
  if (path !== undefined) {
    const isCopied = config.replicaCheck !== undefined;
    const { openSqlite } = await loadSqlite();
    const onUnseen = () => printError(unseen);
    const events = { onCreated: () => onCreated?.(path), onUnseen };
    const file = { path, environment, clock, threaded: false, isCopied };
    const opening = { mayCreate, isReadOnly, staging };
    return namingFile(path, () => openSqlite({ ...file, ...opening, ...events }));
  }
  const { createDatabase, openPostgres } = await loadPostgres();
  const database = createDatabase(databaseUrl);
  const opening = { database, environment, patienceMs: 0, mayCreate, isFilled, isReadOnly };
  return openPostgres({ ...opening, onCreated: () => onCreated?.(database.label) });
}

/** The same error with the file's path, if the store of a command failed and is a file. */
export function withStorePath(config: Config, error: unknown): unknown {
  const path = sqlitePath(config);
  if (path === undefined || !(error instanceof ServiceError) || !error.reason) return error;
  return new ServiceError(error.code, `${path}: ${causeOf(error) ?? error.message}`);
}

/** Throws if the database address names a file that is not there. */
export async function assertStoreFile(config: Config): Promise<void> {
  const path = sqlitePath(config);
  if (path === undefined) return;
  const { assertStore } = await import("../store/sqlite/engine/existence.ts");
  await namingFile(path, async () => assertStore(path));
}

/** Opens an existing store to inspect it. Ends within `deadlineMs`. */
export async function inspectStore(config: Config, deadlineMs: number): Promise<StoreInspection> {
  const path = sqlitePath(config);
  if (path === undefined) {
    const { openInspection } = await import("../store/postgres/inspection.ts");
    return openInspection(config.databaseUrl, deadlineMs);
  }
  await assertStoreFile(config);
  const { openInspection } = await import("../store/sqlite/inspection.ts");
  return openInspection(path);
}

/** Prevents services from using a SQLite file while it is moved. Returns what releases the lock. */
export function lockStore(config: Config): () => void {
  const path = sqlitePath(config);
  return path === undefined ? () => {} : lockForServing(path);
}

const unseen =
  "the change is stored, but the process that serves this store does not respond; it shows the change later";
