import { randomUUID } from "node:crypto";
import { Refusal } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import { textArray } from "./engine/arrays.ts";
import type { Session } from "./engine/session.ts";
import { assertCommitted, begin } from "./engine/transaction.ts";
import { steps } from "./schema/steps.ts";

/** Any number will do that nobody else on the server takes for a lock of theirs. */
const migrationLock = 7_381_002;

/**
 * Brings the schema up to date, once, whichever instance comes first; the others wait for the
 * lock and find nothing to do. Then makes sure that the store belongs to this environment.
 */
export async function migrate(session: Session, environment: Environment): Promise<void> {
  const { sql, query } = session;
  if ((await versionOf(session)).version < steps.length) {
    await query(begin);
    await query("SELECT pg_advisory_xact_lock($1::int8)", [migrationLock]);
    await sql.unsafe(`CREATE TABLE IF NOT EXISTS petstore_schema (
      id int2 PRIMARY KEY CHECK (id = 1), version int4 NOT NULL, fits int4 NOT NULL)`);
    for (let { version } = await versionOf(session); version < steps.length; version++) {
      const { text, fits } = steps[version]!;
      await sql.unsafe(text);
      await query(
        `INSERT INTO petstore_schema VALUES (1, $1::int4, $2::int4)
         ON CONFLICT (id) DO UPDATE SET version = excluded.version, fits = excluded.fits`,
        [version + 1, fits],
      );
    }
    await query(
      `INSERT INTO store (id, environment, epoch, keys_version)
       VALUES (1, $1::text, $2::text, 0) ON CONFLICT DO NOTHING`,
      [environment, randomUUID()],
    );
    await query(
      "INSERT INTO ledger_end SELECT 0, 0 WHERE NOT EXISTS (SELECT FROM ledger_end WHERE seq >= 0)",
    );
    assertCommitted(await sql`COMMIT`);
  }
  if ((await versionOf(session)).fits > steps.length) {
    throw new Refusal("unavailable", "the database was made for a newer version of petstore");
  }
  await refuseWithoutRights(session);
  const [row] = await query("SELECT environment FROM store WHERE id = 1");
  if (!row) throw new Refusal("unavailable", "the database has lost its head; restore a backup");
  const owner = row[0];
  if (owner !== environment) {
    throw new Refusal(
      "unavailable",
      `the database belongs to the ${owner} environment, not to ${environment}`,
    );
  }
}

/** What a role other than the owner of the tables must have been granted. */
const neededRights: Readonly<Record<string, readonly string[]>> = {
  store: ["SELECT", "UPDATE"],
  pets: ["SELECT", "INSERT", "UPDATE"],
  inventory: ["SELECT", "INSERT", "UPDATE"],
  ledger: ["SELECT", "INSERT"],
  ledger_end: ["SELECT", "UPDATE"],
  orders: ["SELECT", "INSERT", "UPDATE"],
  keys: ["SELECT", "INSERT", "UPDATE"],
  secrets: ["SELECT", "INSERT", "UPDATE"],
  counts: ["SELECT", "INSERT", "UPDATE"],
  standings: ["SELECT", "INSERT", "UPDATE"],
  bans: ["SELECT", "INSERT", "UPDATE"],
  // Everybody may call a function, unless an administrator has revoked that.
  petstore_stock: ["EXECUTE"],
  petstore_take: ["EXECUTE"],
};

/** A right that is missing would show only when it is first needed, as a bug. */
async function refuseWithoutRights({ query }: Session): Promise<void> {
  const needed = Object.entries(neededRights).flatMap(([name, rights]) =>
    rights.map((right) => [name, right]),
  );
  const [row] = await query(
    `SELECT current_user::text, string_agg(needed || ' on ' || name, ', ')
     FROM unnest($1::text[], $2::text[]) AS one(name, needed)
     WHERE CASE needed WHEN 'EXECUTE' THEN NOT has_function_privilege(name::regproc, needed)
             ELSE NOT has_table_privilege(name, needed) END`,
    [textArray(needed.map(([name]) => name!)), textArray(needed.map(([, right]) => right!))],
  );
  const [role, missing] = row!;
  if (missing !== null) throw new Refusal("unavailable", `the role ${role} needs ${missing}`);
}

async function versionOf({ query }: Session): Promise<{ version: number; fits: number }> {
  const [present] = await query("SELECT to_regclass('petstore_schema')::text");
  if (present?.[0] === null) return { version: 0, fits: 0 };
  const [row] = await query("SELECT version, fits FROM petstore_schema WHERE id = 1");
  return { version: Number(row?.[0] ?? 0), fits: Number(row?.[1] ?? 0) };
}
