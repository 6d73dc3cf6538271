import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { assertUndamaged } from "./change-signal.ts";
import { guarded } from "./connection.ts";
import { filesOf, hasContent } from "./files.ts";
import { isServedElsewhere } from "./serving-lock.ts";

/** Two processes that begin to recover a store at the same moment keep each other out. They try again. */
const lockWaitMs = 50;

/**
 * Recovers a store that a process left without closing it. Must be called before any other connection
 * is opened. Does nothing while another process has the store open: that one has recovered it.
 *
 * A transaction that a killed process left in the rollback journal is undone. Only a connection that
 * can write can do that, and most commands begin with one that only reads.
 *
 * The write-ahead log is written and flushed again. If its last flush failed, the log may be complete
 * only in memory, and a later flush reports success although the disk has other bytes. A WAL checkpoint
 * that a power loss interrupts would then leave pages of different times.
 */
export const recoverFile = guarded((path: string): void => {
  const files = filesOf(path);
  if (!hasContent(path) || !(hasContent(files.journal) || hasContent(files.wal))) return;
  // First: opening a store whose service has lost track of its files adds more damage.
  assertUndamaged(files);
  if (isServedElsewhere(files)) return;
  const database = new Database(path, { readwrite: true });
  try {
    database.run(`PRAGMA busy_timeout = ${lockWaitMs}`);
    // Before anything is read: the first read then locks out other processes if there is a log. It
    // also undoes the transaction.
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.query("SELECT count(*) FROM sqlite_schema").get();
    database.run("PRAGMA synchronous = FULL");
    if (hasContent(files.wal)) rewrite(files.wal);
  } catch (error) {
    if (!isBusy(error)) throw error;
  } finally {
    // Moves the log into the database file.
    database.close();
  }
});

function isBusy(error: unknown): boolean {
  const busy = 5;
  return error instanceof SQLiteError && (error.errno & 0xff) === busy;
}

const chunkBytes = 1024 * 1024;

/** Writes the bytes of a file to the same places again, so that the flush has to store them. */
function rewrite(file: string): void {
  const handle = openSync(file, "r+");
  try {
    const chunk = Buffer.alloc(chunkBytes);
    for (let at = 0; ; ) {
      const bytes = readSync(handle, chunk, 0, chunkBytes, at);
      if (bytes === 0) break;
      writeSync(handle, chunk, 0, bytes, at);
      at += bytes;
    }
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
