import { Database, SQLiteError } from "bun:sqlite";
import { existsSync, truncateSync } from "node:fs";
import { ServiceError } from "../../../domain/running/errors.ts";
import { createPrivate, filesOf, hasContent, prepareFiles, type StoreFiles } from "./files.ts";
import { resetSignal } from "./mark.ts";
import { assertOneName } from "./second-name.ts";
import { removeOldStageFiles } from "./stage-files.ts";

/** How long a service waits for a command that is checking whether the store is served. */
const lockWaitMs = 500;

/**
 * Locks the store for one serving process and returns a function that releases the lock. Two
 * processes would each count rate limits separately and admit twice as many requests. The operating
 * system releases the lock when the process ends.
 */
export function lockForServing(path: string): () => void {
  // Checked before the file is created: if the store's file was moved away while a service runs, no
  // empty store may take its name.
  if (isServed(filesOf(path))) throw alreadyServed(path);
  const files = prepareFiles(path);
  assertOneName(path);
  const release = acquire(files, lockWaitMs);
  if (!release) throw alreadyServed(path);
  removeOldStageFiles(path);
  if (existsSync(files.changes)) resetSignal(files.changes);
  return release;
}

/**
 * Locks the store again if the lock's file was deleted while this process held the lock, so that no
 * other process can start to serve. Returns a function that releases the new lock.
 */
export function relockForServing(files: StoreFiles): (() => void) | undefined {
  return existsSync(files.servingLock) ? undefined : acquire(files, 0);
}

/** The locks that this process holds. */
const held = new Set<string>();

function acquire({ servingLock }: StoreFiles, waitMs: number): (() => void) | undefined {
  createPrivate(servingLock);
  // SQLite cannot lock a file with the content of another program. Locks do not depend on content.
  if (hasContent(servingLock)) truncateSync(servingLock);
  const lock = new Database(servingLock);
  try {
    lock.run(`PRAGMA busy_timeout = ${waitMs}`);
    // Nothing is ever written to this database, so it needs no journal file.
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("PRAGMA locking_mode = EXCLUSIVE");
    lock.run("BEGIN EXCLUSIVE");
  } catch {
    lock.close();
    return undefined;
  }
  held.add(servingLock);
  return () => {
    held.delete(servingLock);
    lock.close();
  };
}

function alreadyServed(path: string): ServiceError {
  return new ServiceError("unavailable", `another process is already serving ${path}`);
}

/** Whether a process holds the lock now. */
export function isServed({ servingLock }: StoreFiles): boolean {
  if (!existsSync(servingLock)) return false;
  using probe = new Database(servingLock, { readonly: true });
  try {
    probe.query("SELECT 1 FROM sqlite_schema").values();
    return false;
  } catch (error) {
    return !isUnlocked(error);
  }
}

/** SQLITE_CORRUPT or SQLITE_NOTADB. SQLite reads the content of a file only after it got the lock. */
function isUnlocked(error: unknown): boolean {
  return error instanceof SQLiteError && [11, 26].includes(error.errno & 0xff);
}

/** Whether another process holds the lock now. */
export function isServedElsewhere(files: StoreFiles): boolean {
  return !held.has(files.servingLock) && isServed(files);
}
