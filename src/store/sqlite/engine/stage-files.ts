import { Database, SQLiteError } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { guarded } from "./connection.ts";
import { createPrivate, realPathOf } from "./files.ts";

/**
 * Files beside the database with the staged rows of an import. A process stages them without a lock of the
 * store, and the writer then attaches the file.
 */

const infix = "-import-";

/** A new name beside the database. */
export function nameStageFile(path: string): string {
  return `${realPathOf(path)}${infix}${randomUUID()}`;
}

/**
 * Never flushed, because no other start of this program uses the file. The journal is in memory: it takes
 * back a statement that finds a repeated id.
 */
const unflushed = (schema: string) =>
  `PRAGMA ${schema}.journal_mode = MEMORY; PRAGMA ${schema}.synchronous = OFF`;

/** Creates a stage file. It is locked until the connection is closed. */
export const createStageFile = guarded((file: string): Database => {
  createPrivate(file);
  const database = new Database(file, { readwrite: true, safeIntegers: true, strict: true });
  database.run("PRAGMA locking_mode = EXCLUSIVE");
  database.run(unflushed("main"));
  return database;
});

/** Runs `work` while the tables of a stage file are found by their names. */
export function withStageFile<T>(database: Database, file: string, work: () => T): T {
  database.run("ATTACH ? AS stage", [file]);
  try {
    database.run(unflushed("stage"));
    return work();
  } finally {
    database.run("DETACH stage");
  }
}

export function removeStageFile(file: string): void {
  rmSync(file, { force: true });
}

/** Removes the stage files of processes that were killed. */
export function removeOldStageFiles(path: string): void {
  const real = realPathOf(path);
  const folder = dirname(real);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(basename(real) + infix)) continue;
    const file = join(folder, name);
    if (!isLocked(file)) removeStageFile(file);
  }
}

/** Whether a command is staging rows in this file. Any other error is that of an unfinished file. */
function isLocked(file: string): boolean {
  using database = new Database(file, { readwrite: true });
  try {
    database.run("BEGIN EXCLUSIVE");
    return false;
  } catch (error) {
    const busy = 5;
    return error instanceof SQLiteError && (error.errno & 0xff) === busy;
  }
}
