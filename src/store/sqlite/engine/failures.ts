import { SQLiteError } from "bun:sqlite";
import {
  ServiceError,
  type UnavailableReason,
  unavailable,
} from "../../../domain/running/errors.ts";
import type { Log } from "../../../domain/running/events.ts";

/**
 * SQLite's primary result codes for a missing lock, missing disk space and disk errors, each with
 * the cause in words for the log.
 */
const reasons: Readonly<Record<number, readonly [UnavailableReason, string]>> = {
  5: ["busy", "another process holds the write lock"], // SQLITE_BUSY
  6: ["busy", "another connection holds a lock"], // SQLITE_LOCKED
  8: ["unwritable", "the file of the store is read-only"], // SQLITE_READONLY
  10: ["unreachable", "the disk reports an error"], // SQLITE_IOERR
  13: ["full", "no space left on the device"], // SQLITE_FULL
  14: ["cannotOpen", "a file of the store cannot be opened"], // SQLITE_CANTOPEN
};

/**
 * SQLITE_IOERR_FSYNC: a commit was written but not flushed. SQLite takes it back, but a crash before the
 * next commit may bring it to light again.
 */
const notFlushed = 1034;

/** SQLITE_IOERR_SHMSIZE: the `-shm` file cannot grow. A full disk causes it when a store is opened. */
const indexTooSmall = 4874;

/** SQLITE_IOERR_SHMMAP: the `-shm` file cannot be mapped. */
const indexNotMapped = 5386;

/**
 * Converts a failure of a commit whose rows are in the log already. SQLite adds them to the index of the
 * log last, and takes the commit back if that fails, but a crash may bring it to light again.
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
  return message ? new ServiceError("unavailable", message, { reason: "damaged" }) : error;
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

type Promised<T> = {
  readonly [M in keyof T]: T[M] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<R>
    : never;
};

/** Returns an object with the same methods, each of which returns a promise. */
export function promised<T extends object>(methods: T): Promised<T> {
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      async (...args: unknown[]) => method(...args),
    ]),
  ) as Promised<T>;
}

/**
 * Ends the process at once. Closing the last connection runs a checkpoint and deletes the log by its
 * name, which would destroy the log of another process. Bun closes every connection on any other exit.
 */
export async function endWithoutClosing(log?: Log): Promise<void> {
  log?.("ending without closing the store");
  await log?.flush?.();
  process.kill(process.pid, "SIGKILL");
}
