import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Refusal } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import { migrate } from "./migrations.ts";

/** The write-ahead log is cut back to this after a large import has been moved into the file. */
const walBytesKept = 64 * 1024 * 1024;

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
    mkdirSync(dirname(path), { recursive: true });
    database = new Database(path, { create: true, safeIntegers: true, strict: true });
    database.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
    database.run("PRAGMA journal_mode = WAL");
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA foreign_keys = ON");
    database.run(`PRAGMA journal_size_limit = ${walBytesKept}`);
    assertPragma(database, "journal_mode", "wal");
    assertPragma(database, "synchronous", 2n);
    assertPragma(database, "foreign_keys", 1n);
    migrate(database, environment);
    return database;
  } catch (error) {
    database?.close();
    throw unavailableOr(error);
  }
}

/** A pragma the engine does not take is ignored in silence; durability is not left to hope. */
function assertPragma(database: Database, name: string, expected: string | bigint): void {
  const row = database.query(`PRAGMA ${name}`).get() as Record<string, unknown>;
  if (Object.values(row)[0] !== expected) {
    throw new Error(`the database does not support ${name} = ${expected}`);
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
