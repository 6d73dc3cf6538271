import { Database } from "bun:sqlite";
import type { Environment } from "../../../domain/keys/keys.ts";
import { migrate } from "../schema/migrations.ts";
import { guarded, unavailableOr } from "./failures.ts";
import { prepareFiles } from "./files.ts";

/**
 * SQLite truncates the write-ahead log to this size. While a backup or an export reads one state of the
 * store, all updates stay in the log, and an import adds more. Then the log is used again from its
 * start, at its full length. More than the log needs without them, because a file that grows makes
 * commits slower.
 */
const walBytesKept = 8 * 1024 * 1024;

/** Opens the file for reading only. Never waits for a lock, so the event loop can use it. */
export const openForReading = guarded((path: string): Database => {
  const database = new Database(path, { readonly: true, safeIntegers: true, strict: true });
  database.run("PRAGMA busy_timeout = 0");
  database.run("PRAGMA query_only = ON");
  return database;
});

/** Opens the file for reading, and for writing temporary tables, which are outside the file. */
export const openForStaging = guarded((path: string): Database => {
  return new Database(path, { readonly: true, safeIntegers: true, strict: true });
});

/** An empty store in memory. */
export function openEmpty(environment: Environment): Database {
  const database = new Database(":memory:", { safeIntegers: true, strict: true });
  migrate(database, environment);
  return database;
}

/**
 * Opens or creates the file for writing, with the current schema and durable commits. Blocks its
 * thread while another process, such as a large import, holds the write lock.
 */
export function openForWriting(
  path: string,
  environment: Environment,
  busyWaitMs: number,
): Database {
  let database: Database | undefined;
  try {
    prepareFiles(path);
    database = new Database(path, { create: true, safeIntegers: true, strict: true });
    database.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
    // FULL: a commit returns only after the disk has stored it.
    setPragma(database, "synchronous", 2n);
    setPragma(database, "foreign_keys", 1n);
    setPragma(database, "journal_size_limit", BigInt(walBytesKept));
    // Truncating a mapped file ends every process that maps it.
    setPragma(database, "mmap_size", 0n);
    // Before the log exists: a new store is then complete in its file, and a copy of that file without
    // the log cannot pass for a store that was never filled.
    migrate(database, environment);
    setPragma(database, "journal_mode", "wal");
    // The first read creates the log of a new store. Damage to a file is found only if it existed when
    // the checks began.
    database.query("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database?.close();
    throw unavailableOr(error);
  }
}

/** Runs `work` on a connection and closes it. */
export async function useConnection<T>(
  database: Database,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  try {
    return await work(database);
  } catch (error) {
    throw unavailableOr(error);
  } finally {
    database.close();
  }
}

/**
 * Returns a function that runs `work` as one write transaction. It takes the write lock first: a
 * transaction that starts with a read fails at its first write if another connection has written
 * since.
 */
export function inTransaction<A extends unknown[], T>(
  database: Database,
  work: (...args: A) => T,
): (...args: A) => T {
  const bound = database.transaction(work);
  return (...args) => bound.immediate(...args) as T;
}

/** Sets a pragma and reads it back, because SQLite ignores values that it does not support. */
export function setPragma(database: Database, name: string, value: string | bigint): void {
  database.run(`PRAGMA ${name} = ${value}`);
  const row = database.query(`PRAGMA ${name}`).get() as Record<string, unknown>;
  if (Object.values(row)[0] !== value) {
    throw new Error(`the database does not support ${name} = ${value}`);
  }
}

/** Returns a function whose result changes when another connection has committed. */
export function createDataVersionReader(database: Database): () => number {
  const query = database.query("PRAGMA data_version");
  return () => Number((query.values()[0] as unknown[])[0]);
}
