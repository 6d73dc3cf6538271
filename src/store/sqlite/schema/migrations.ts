import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import type { Environment } from "../../../domain/keys/keys.ts";
import { ServiceError } from "../../../domain/running/errors.ts";
import { assertOwner, madeByNewer } from "../../schema-versions.ts";
import { steps } from "./steps.ts";

/**
 * Creates the schema in a new file, and checks that an existing one has the current schema and belongs
 * to this environment. An older schema is migrated before (`engine/upgrade.ts`).
 */
export function migrate(database: Database, environment: Environment): void {
  assertOurs(database);
  if (versionOf(database) === 0) {
    database.transaction(() => applySteps(database, environment)).immediate();
  }
  assertCurrent(database, environment);
  completeEpochs(database);
}

/** Rejects a store that has another schema, or belongs to the other environment. */
export function assertCurrent(database: Database, environment: Environment): void {
  const version = versionOf(database);
  if (version > steps.length) throw madeByNewer(steps, version);
  if (version < steps.length) {
    throw new ServiceError(
      "unavailable",
      "the store was replaced by one of an older version; start again",
    );
  }
  assertEnvironment(database, environment);
}

/** Rejects a store of the other environment. */
export function assertEnvironment(database: Database, environment: Environment): void {
  assertOwner(database.query("SELECT environment FROM head").values()[0], environment);
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

export function journalModeOf(database: Database): unknown {
  return (database.query("PRAGMA journal_mode").values()[0] as unknown[])[0];
}

/** The number of steps that were applied. */
export function versionOf(database: Database): number {
  const row = database.query("PRAGMA user_version").get() as { user_version: number | bigint };
  return Number(row.user_version);
}

/** Applies the missing steps in the caller's transaction, and adds the head of a new store. */
export function applySteps(database: Database, environment: Environment): void {
  // Read under the lock: another process may have applied steps since.
  const first = versionOf(database);
  for (let version = first; version < steps.length; version++) {
    const { apply } = steps[version]!;
    if (typeof apply === "string") database.run(apply);
    else apply(database);
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

const isEpochMissing = "NOT EXISTS (SELECT 1 FROM epochs WHERE epochs.epoch = head.epoch)";

/**
 * Adds the current epoch to the history if it is missing: in a new store, and in one that was filled
 * from another store, because it keeps an epoch of its own and gets the other store's history.
 */
function completeEpochs(database: Database): void {
  const [missing] = database.query(`SELECT ${isEpochMissing} FROM head`).values()[0]!;
  if (Number(missing) === 0) return;
  database.run(
    `INSERT INTO epochs (epoch, from_seq) SELECT epoch, seq FROM head WHERE ${isEpochMissing}`,
  );
}
