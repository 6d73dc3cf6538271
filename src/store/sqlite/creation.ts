import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import type { Environment } from "../../domain/keys/keys.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { assertOwner, assertSchema, schemaNumber } from "../schema.ts";
import { schema } from "./schema.ts";

/** Creates the tables in a new file. Checks that an existing store fits. */
export function createOrCheck(database: Database, environment: Environment): void {
  if (!assertOurs(database)) {
    database.transaction(() => createTables(database, environment)).immediate();
  }
  assertFits(database, environment);
  completeEpochs(database);
}

/** Rejects a store that has another schema, or belongs to the other environment. */
export function assertFits(database: Database, environment: Environment): void {
  assertSchema(readNumber(database));
  assertOwner(database.query("SELECT environment FROM head").values()[0], environment);
}

/** Rejects the database of another program. Returns false for one without tables. */
export function assertOurs(database: Database): boolean {
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
  return tables > 0n;
}

export function journalModeOf(database: Database): unknown {
  return (database.query("PRAGMA journal_mode").values()[0] as unknown[])[0];
}

/** The number of the store's schema, or 0 if there are no tables. */
export function readNumber(database: Database): number {
  const row = database.query("PRAGMA user_version").get() as { user_version: number | bigint };
  return Number(row.user_version);
}

function createTables(database: Database, environment: Environment): void {
  // Read under the lock: another process may have created them since.
  if (readNumber(database) !== 0) return;
  database.run(schema);
  database.run(
    `INSERT INTO head (id, environment, epoch, seq, at, keys_version)
     VALUES (1, ?, ?, 0, 0, 0)`,
    [environment, randomUUID()],
  );
  database.run(`PRAGMA user_version = ${schemaNumber}`);
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
