import { Database } from "bun:sqlite";
import { renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Environment } from "../../../domain/keys/keys.ts";
import type { Migration, MigrationBackup } from "../../../domain/operations/upgrades.ts";
import { ServiceError } from "../../../domain/running/errors.ts";
import { flush, flushFolder } from "../../../folders.ts";
import { schemaOf } from "../../schema-versions.ts";
import { applySteps, assertEnvironment, assertOurs, versionOf } from "../schema/migrations.ts";
import { steps } from "../schema/steps.ts";
import { guarded, openForReading } from "./connection.ts";
import { createPrivate, filesOf } from "./files.ts";

/** How long a migration waits for the write lock, such as for another process that migrates. */
const lockWaitMs = 60_000;

/**
 * Migrates an existing file whose schema is older, after a verified copy of it was made beside it. No
 * process can write in between, so the copy has everything that the store had. Returns undefined if
 * there was nothing to do. Blocks its thread.
 */
export const upgradeFile = guarded(
  (path: string, environment: Environment, now: number): Migration | undefined => {
    if (!isOlder(path)) return undefined;
    const database = new Database(path, { readwrite: true, safeIntegers: true, strict: true });
    try {
      database.run(`PRAGMA busy_timeout = ${lockWaitMs}`);
      // FULL: the migration is on the disk before the store is used.
      database.run("PRAGMA synchronous = FULL");
      database.run("PRAGMA foreign_keys = ON");
      database.run("BEGIN IMMEDIATE");
      // Read again under the lock: another process may have migrated meanwhile.
      const version = versionOf(database);
      if (version >= steps.length) return undefined;
      assertEnvironment(database, environment);
      const backup = backUp(path, now);
      const startedAt = performance.now();
      applySteps(database, environment);
      database.run("COMMIT");
      return {
        from: schemaOf(steps, version),
        to: schemaOf(steps, steps.length),
        durationMs: performance.now() - startedAt,
        backup,
      };
    } finally {
      if (database.inTransaction) database.run("ROLLBACK");
      database.close();
    }
  },
);

/** Whether a file contains a store with an older schema. A missing or an empty file does not. */
function isOlder(path: string): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return false;
  using database = openForReading(path);
  database.run(`PRAGMA busy_timeout = ${lockWaitMs}`);
  assertOurs(database);
  const version = versionOf(database);
  return version > 0 && version < steps.length;
}

/** The room that a copy of the store needs, and the room that there is beside it. */
function roomForCopy(path: string): { folder: string; needed: number; free: number } {
  const folder = dirname(filesOf(path).wal);
  using database = openForReading(path);
  const count = (name: string) => Number(database.query(`PRAGMA ${name}`).values()[0]![0]);
  const needed = (count("page_count") - count("freelist_count")) * count("page_size");
  const { bavail, bsize } = statfsSync(folder);
  return { folder, needed, free: bavail * bsize };
}

function backUp(path: string, now: number): MigrationBackup {
  const startedAt = performance.now();
  const { folder, needed, free } = roomForCopy(path);
  const temporary = join(folder, `.${nameOf(path)}.before-migration.tmp`);
  try {
    if (free < needed) throw new Error(`it needs ${needed} bytes, and ${free} are free`);
    copyFile(path, temporary);
    const different = findDifference(path, temporary);
    if (different) throw new Error(`the copy is wrong: ${different}`);
    flush(temporary);
    const file = freeName(
      folder,
      `${nameOf(path)}.before-${steps.at(-1)!.release}-${timestamp(now)}`,
    );
    renameSync(temporary, file);
    flushFolder(folder);
    return { file, bytes: statSync(file).size, durationMs: performance.now() - startedAt };
  } catch (error) {
    removeIfPossible(temporary);
    throw new ServiceError(
      "unavailable",
      `cannot make a backup in ${folder} before the migration: ${(error as Error).message}; nothing was changed: free ${needed} bytes there or make the folder writable, then start again`,
    );
  }
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The cause of the failure is reported already. The next attempt removes the file.
  }
}

/** The name of a store, without the usual ending. */
function nameOf(path: string): string {
  return basename(filesOf(path).wal).replace(/(\.db)?-wal$/, "");
}

/** A time such as 20261116T120000Z. */
function timestamp(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
}

function freeName(folder: string, name: string): string {
  for (let copy = 1; ; copy++) {
    const file = join(folder, `${name}${copy === 1 ? "" : `-${copy}`}.db`);
    if (!statSync(file, { throwIfNoEntry: false })) return file;
  }
}

/** Copies the committed state of a store to a new file. Others can read and write meanwhile. */
function copyFile(path: string, target: string): void {
  // An earlier attempt may have been killed.
  rmSync(target, { force: true });
  createPrivate(target);
  // Not `openForReading`: its connections refuse to write any file.
  using database = new Database(path, { readonly: true, safeIntegers: true });
  database.query("VACUUM INTO ?").run(target);
}

/** Checks the pages of a copy, and compares version, head and the number of rows in every table. */
function findDifference(path: string, copy: string): string | undefined {
  using original = openForReading(path);
  using copied = openForReading(copy);
  const [[result] = []] = copied.query("PRAGMA integrity_check(1)").values();
  if (result !== "ok") return `integrity check: ${result}`;
  if (versionOf(copied) !== versionOf(original)) return "user_version";
  const tables = original
    .query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .values();
  const same = (query: string) =>
    Bun.deepEquals(original.query(query).values(), copied.query(query).values());
  if (!same("SELECT * FROM head")) return "head";
  return tables
    .map(([name]) => String(name))
    .find((name) => !same(`SELECT count(*) FROM "${name}"`));
}
