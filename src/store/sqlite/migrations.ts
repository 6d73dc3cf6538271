import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { Refusal } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import { steps } from "./schema/steps.ts";

/** Brings the schema up to date and makes sure that the file belongs to this environment. */
export function migrate(database: Database, environment: Environment): void {
  refuseForeign(database);
  if (versionOf(database) < steps.length) {
    database
      .transaction(() => {
        // Read again under the lock: another process may have been first.
        for (let version = versionOf(database); version < steps.length; version++) {
          database.run(steps[version]!);
          database.run(`PRAGMA user_version = ${version + 1}`);
        }
        database.run(
          `INSERT INTO head (id, environment, epoch, seq, at, keys_version)
           VALUES (1, ?, ?, 0, 0, 0) ON CONFLICT DO NOTHING`,
          [environment, randomUUID()],
        );
        database.run(
          `INSERT INTO epochs (epoch, from_seq)
           SELECT epoch, seq FROM head WHERE NOT EXISTS (SELECT 1 FROM epochs)`,
        );
      })
      .immediate();
  }
  if (versionOf(database) > steps.length) {
    throw new Refusal("unavailable", "the database was made by a newer version of petstore");
  }
  const row = database.query("SELECT environment FROM head").get() as {
    environment: string;
  } | null;
  if (!row) throw new Refusal("unavailable", "the database has lost its head; restore a backup");
  if (row.environment !== environment) {
    throw new Refusal(
      "unavailable",
      `the database belongs to the ${row.environment} environment, not to ${environment}`,
    );
  }
}

/** Another program's file is not ours to add tables to. */
function refuseForeign(database: Database): void {
  const tables = database
    .query(
      "SELECT count(*), coalesce(sum(name = 'head'), 0) FROM sqlite_schema WHERE type = 'table'",
    )
    .values()[0] as [bigint, bigint];
  if (tables[0] > 0n && tables[1] === 0n) {
    throw new Refusal("unavailable", "the store's file is not a petstore database");
  }
}

function versionOf(database: Database): number {
  const row = database.query("PRAGMA user_version").get() as { user_version: number | bigint };
  return Number(row.user_version);
}
