import { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import { completeEpochs } from "./epochs.ts";
import { steps } from "./schema/steps.ts";

/** Brings the schema up to date and checks that the file belongs to this environment. */
export function migrate(database: Database, environment: Environment): void {
  assertOurs(database);
  if (needsMigration(database)) {
    database.transaction(() => applySteps(database, environment)).immediate();
  }
  if (versionOf(database) > steps.length) {
    throw new ServiceError("unavailable", "the database was made by a newer version of petstore");
  }
  const head = database.query("SELECT environment FROM head").values()[0];
  if (!head)
    throw new ServiceError("unavailable", "the database has no head row; restore a backup");
  if (head[0] !== environment) {
    throw new ServiceError(
      "unavailable",
      `the database belongs to the ${head[0]} environment, not to ${environment}`,
    );
  }
  completeEpochs(database);
}

/** The version of the schema of a store; undefined if there is none, or if it cannot be read. */
export function findSchemaVersion(path: string): number | undefined {
  if (!existsSync(path)) return undefined;
  let database: Database | undefined;
  try {
    database = new Database(path, { readonly: true });
    return versionOf(database) || undefined;
  } catch {
    // Opening it for writing reports why.
    return undefined;
  } finally {
    database?.close();
  }
}

/** Whether the schema of a store is older than this version of petstore. */
export function needsMigration(database: Database): boolean {
  return versionOf(database) < steps.length;
}

/** Rejects the database of another program. */
export function assertOurs(database: Database): void {
  const [tables, heads] = database
    .query(
      "SELECT count(*), coalesce(sum(name = 'head'), 0) FROM sqlite_schema WHERE type = 'table'",
    )
    .values()[0] as [bigint, bigint];
  if (tables > 0n && heads === 0n) {
    throw new ServiceError("unavailable", "the store's file is not a petstore database");
  }
  // A new store is stored in its file before it gets a log. A file with a log has had tables.
  if (tables === 0n && journalModeOf(database) === "wal") {
    throw new ServiceError(
      "unavailable",
      "the file is a copy without its -wal file, which has the tables; copy both files while no process uses them, or restore a backup",
    );
  }
}

function journalModeOf(database: Database): unknown {
  return (database.query("PRAGMA journal_mode").values()[0] as unknown[])[0];
}

export function versionOf(database: Database): number {
  const row = database.query("PRAGMA user_version").get() as { user_version: number | bigint };
  return Number(row.user_version);
}

function applySteps(database: Database, environment: Environment): void {
  // Read under the lock: another process may have applied steps since.
  const first = versionOf(database);
  for (let version = first; version < steps.length; version++) {
    const step = steps[version]!;
    if (typeof step === "string") database.run(step);
    else step(database);
    database.run(`PRAGMA user_version = ${version + 1}`);
  }
  // An existing store without a head is damaged. A new head would hide that.
  if (first > 0) return;
  database.run(
    `INSERT INTO head (id, environment, epoch, seq, at, keys_version)
     VALUES (1, ?, ?, 0, 0, 0)`,
    [environment, randomUUID()],
  );
}
