import { Database, SQLiteError } from "bun:sqlite";
import { Refusal } from "../../../domain/errors.ts";
import type { Environment } from "../../../domain/keys.ts";
import { migrate } from "../migrations.ts";
import { prepareFiles } from "./files.ts";

/** The write-ahead log is cut back to this after a large import has been moved into the file. */
const journalBytesKept = 64 * 1024 * 1024;

/** Opens the file for reading only; never waits for a lock, so it may sit on the event loop. */
export function openForReading(path: string): Database {
  const database = new Database(path, { readonly: true, safeIntegers: true, strict: true });
  database.run("PRAGMA busy_timeout = 0");
  database.run("PRAGMA query_only = ON");
  return database;
}

/**
 * Opens or creates the file for writing, migrated and durable. It waits for another writer, such
 * as a large import, and blocks its thread while it does.
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
    setPragma(database, "journal_mode", "wal");
    // FULL: a commit returns when the disk has it.
    setPragma(database, "synchronous", 2n);
    setPragma(database, "foreign_keys", 1n);
    setPragma(database, "journal_size_limit", BigInt(journalBytesKept));
    // A mapped file that somebody truncates ends the process.
    setPragma(database, "mmap_size", 0n);
    migrate(database, environment);
    return database;
  } catch (error) {
    database?.close();
    throw unavailableOr(error);
  }
}

/** Makes a function that runs as one write transaction. */
export function inTransaction<A extends unknown[], T>(
  database: Database,
  work: (...args: A) => T,
): (...args: A) => T {
  const bound = database.transaction(work);
  return (...args) => bound.immediate(...args) as T;
}

/** Sets a pragma and reads it back: the engine ignores in silence what it cannot follow. */
export function setPragma(database: Database, name: string, value: string | bigint): void {
  database.run(`PRAGMA ${name} = ${value}`);
  const row = database.query(`PRAGMA ${name}`).get() as Record<string, unknown>;
  if (Object.values(row)[0] !== value) {
    throw new Error(`the database does not support ${name} = ${value}`);
  }
}

/**
 * What an engine failure means to a caller: no room, no lock, no disk. Everything else is a bug
 * and passes through.
 */
export function unavailableOr(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const primary = error.errno & 0xff;
  return primary in unavailableTexts
    ? new Refusal("unavailable", unavailableTexts[primary]!)
    : error;
}

/** Engine failures leave as refusals, so that nothing above knows which engine it is. */
export function guarded<A extends unknown[], T>(work: (...args: A) => T): (...args: A) => T {
  return (...args) => {
    try {
      return work(...args);
    } catch (error) {
      throw unavailableOr(error);
    }
  };
}

/** The same for every method of a reader. */
export function guardedReader<T extends object>(reader: T): T {
  const methods = Object.entries(reader).map(([name, method]) => [name, guarded(method)]);
  return Object.fromEntries(methods) as T;
}

const unavailableTexts: Record<number, string> = {
  5: "The store is busy; try again.", // SQLITE_BUSY
  6: "The store is busy; try again.", // SQLITE_LOCKED
  8: "The store cannot be written; try again later.", // SQLITE_READONLY
  10: "The store cannot be reached; try again later.", // SQLITE_IOERR
  11: "the store's file is damaged; restore a backup", // SQLITE_CORRUPT
  13: "The store is full; try again later.", // SQLITE_FULL
  14: "The store's file cannot be opened.", // SQLITE_CANTOPEN
  26: "the store's file is not a petstore database", // SQLITE_NOTADB
};
