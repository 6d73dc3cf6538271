import { Database, SQLiteError } from "bun:sqlite";
import type { Environment } from "../../../domain/keys/keys.ts";
import { type UnavailableReason, unavailable } from "../../../domain/running/errors.ts";
import type { Promised } from "../../statements.ts";
import { createOrCheck } from "../creation.ts";
import { prepareFiles } from "./files.ts";

/**
 * SQLite truncates the write-ahead log to this size. While a backup or an export reads one state of the
 * store, all updates stay in the log, and an import adds more. Larger than normal use needs: growing the
 * file slows commits.
 */
const walBytesKept = 16 * 1024 * 1024;

/**
 * Pages in the log after which SQLite runs a WAL checkpoint: 12 MB. A page that many updates change is
 * then written to the database once for all of them. With SQLite's 1,000 pages, random updates of 10,000
 * entries run a WAL checkpoint every 40 commits.
 */
const walPagesMax = 3_000n;

/**
 * The same for a store that Litestream copies: 400 MB. Litestream runs the WAL checkpoints. One of ours
 * could remove pages that Litestream has not copied yet. While Litestream does not run, ours keep the
 * log from filling the disk.
 */
const copiedWalPagesMax = 100_000n;

/** A file that is opened for writing. */
export interface WrittenFile {
  readonly path: string;
  readonly environment: Environment;
  /** Whether Litestream copies it. */
  readonly isCopied?: boolean;
}

/** Opens the file for reading only. Unless told, it never waits for a lock, so the event loop can use it. */
export const openForReading = guarded((path: string, busyWaitMs = 0): Database => {
  const database = new Database(path, { readonly: true, safeIntegers: true, strict: true });
  database.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
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
  createOrCheck(database, environment);
  return database;
}

/**
 * Opens or creates the file for writing, with the current schema and durable commits. Blocks its
 * thread while another process, such as a large import, holds the write lock.
 */
export function openForWriting(file: WrittenFile, busyWaitMs: number): Database {
  const { path, environment, isCopied } = file;
  let database: Database | undefined;
  try {
    prepareFiles(path);
    database = new Database(path, { create: true, safeIntegers: true, strict: true });
    database.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
    // FULL: a commit returns only after the disk has stored it.
    setPragma(database, "synchronous", 2n);
    setPragma(database, "foreign_keys", 1n);
    setPragma(database, "wal_autocheckpoint", isCopied ? copiedWalPagesMax : walPagesMax);
    setPragma(database, "journal_size_limit", BigInt(walBytesKept));
    // Truncating a mapped file ends every process that maps it.
    setPragma(database, "mmap_size", 0n);
    // Before the log exists: a new store is then complete in its file, and a copy of that file without
    // the log cannot pass for a store that was never filled.
    createOrCheck(database, environment);
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

/**
 * SQLite's primary result codes for a missing lock, missing disk space and disk errors, each with
 * the cause in words for the log.
 */
const reasons: Readonly<Record<number, readonly [UnavailableReason, string]>> = {
  5: ["busy", "another process holds the write lock"], // SQLITE_BUSY
  6: ["busy", "another connection holds a lock"], // SQLITE_LOCKED
  8: ["unwritable", "the file of the store, or its folder, is read-only"], // SQLITE_READONLY
  10: ["unreachable", "the disk reports an error"], // SQLITE_IOERR
  13: ["full", "no space left on the device"], // SQLITE_FULL
  14: ["cannotOpen", "a file of the store cannot be opened"], // SQLITE_CANTOPEN
};

/**
 * SQLITE_IOERR_FSYNC: a commit was written but not flushed. SQLite takes it back, but after a crash before
 * the next commit, it may exist again.
 */
const notFlushed = 1034;

/** SQLITE_IOERR_SHMSIZE: the `-shm` file cannot grow. A full disk causes it when a store is opened. */
const indexTooSmall = 4874;

/** SQLITE_IOERR_SHMMAP: the `-shm` file cannot be mapped. */
const indexNotMapped = 5386;

/**
 * Converts a failure of a commit whose rows are already in the log. SQLite adds them to the index of the
 * log last, and takes the commit back if that fails, but after a crash, it may exist again.
 */
export function unknownOutcomeOr(error: unknown): unknown {
  const errno = error instanceof SQLiteError ? error.errno : 0;
  const isLogged = errno === indexTooSmall || errno === indexNotMapped;
  return isLogged ? unavailable("unknownOutcome", "the -shm file cannot grow") : error;
}

/** Result codes that only a person can act on, in the words of the command line. */
const fileMessages: Readonly<Record<number, string>> = {
  11: "the store's file is damaged; restore a backup", // SQLITE_CORRUPT
  26: "the store's file is not a petstore database", // SQLITE_NOTADB
};

/** Converts an error of SQLite that callers must handle. Every other error is a bug and unchanged. */
export function unavailableOr(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.errno & 0xff;
  const found = reasons[error.errno === indexTooSmall ? 13 : code];
  if (found) {
    const reason = error.errno === notFlushed ? "unknownOutcome" : found[0];
    return unavailable(reason, `${found[1]} (${error.code ?? `SQLite ${error.errno}`})`);
  }
  const message = fileMessages[code];
  return message ? unavailable("damaged", message) : error;
}

/** Returns `work` with its SQLite errors converted, so that callers do not depend on the engine. */
export function guarded<A extends unknown[], T>(work: (...args: A) => T): (...args: A) => T {
  return (...args) => {
    try {
      return work(...args);
    } catch (error) {
      throw unavailableOr(error);
    }
  };
}

type Wrap = <A extends unknown[], T>(method: (...args: A) => T) => (...args: A) => T;

/** Returns an object with the same methods, each of them wrapped. */
export function wrapMethods<T extends object>(methods: T, wrap: Wrap): T {
  const wrapped = Object.entries(methods).map(([name, method]) => [name, wrap(method)]);
  return Object.fromEntries(wrapped);
}

/** Returns an object with the same methods, each of which returns a promise. */
export function promised<T extends object>(methods: T): Promised<T> {
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      async (...args: unknown[]) => method(...args),
    ]),
  ) as Promised<T>;
}
