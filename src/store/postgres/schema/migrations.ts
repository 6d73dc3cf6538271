import { randomUUID } from "node:crypto";
import type { Environment } from "../../../domain/keys/keys.ts";
import type { Migration } from "../../../domain/operations/upgrades.ts";
import { ServiceError } from "../../../domain/running/errors.ts";
import { assertOwner, madeByNewer, schemaOf } from "../../schema-versions.ts";
import { textArray } from "../engine/arrays.ts";
import type { Session } from "../engine/session.ts";
import { begin, commitTransaction } from "../engine/transaction.ts";
import { steps } from "./steps.ts";

/** The key of an advisory lock. Arbitrary, but no other application on the server may use it. */
const migrationLock = 7_381_002;

const versionTable = `CREATE TABLE IF NOT EXISTS petstore_schema (
  id int2 PRIMARY KEY CHECK (id = 1), version int4 NOT NULL, fits int4 NOT NULL)`;

/**
 * Migrates the schema, then checks the rights of the role and the environment of the store. Of
 * several instances that start together one migrates; the others wait for the lock and find nothing
 * to do. Returns what this one did; version 0 is an empty database.
 */
export async function migrate(
  session: Session,
  environment: Environment,
): Promise<Migration | undefined> {
  const isOlder = (await readVersion(session)).version < steps.length;
  const migration = isOlder ? await migrateStore(session, environment) : undefined;
  const { version, fits } = await readVersion(session);
  if (fits > steps.length) throw madeByNewer(steps, version);
  await checkRights(session);
  await checkEnvironment(session, environment);
  return migration;
}

/**
 * Applies the missing steps and adds the row of the store, in one transaction. Returns undefined if
 * another instance has done so.
 */
async function migrateStore(
  session: Session,
  environment: Environment,
): Promise<Migration | undefined> {
  const startedAt = performance.now();
  const { sql, query } = session;
  await query(begin);
  await query("SELECT pg_advisory_xact_lock($1::int8)", [migrationLock]);
  // Not in an upgrade: IF NOT EXISTS looks only into the first schema of the search path, and a second
  // version there would make other instances apply a step again. In an empty database it is needed,
  // because another instance may have created the table while this one waited for the lock.
  if (!(await hasStore(session))) await sql.unsafe(versionTable);
  // Read again under the lock: another instance may have migrated meanwhile.
  const { version } = await readVersion(session);
  if (version > 1) await checkEnvironment(session, environment);
  for (const [at, { text, fits }] of [...steps.entries()].slice(version)) {
    await sql.unsafe(text);
    await query(
      `INSERT INTO petstore_schema VALUES (1, $1::int4, $2::int4)
       ON CONFLICT (id) DO UPDATE SET version = excluded.version, fits = excluded.fits`,
      [at + 1, fits],
    );
  }
  await query(
    `INSERT INTO store (id, environment, epoch, keys_version)
     VALUES (1, $1::text, $2::text, 0) ON CONFLICT DO NOTHING`,
    [environment, randomUUID()],
  );
  await query(
    `INSERT INTO ledger_end (seq, at, hash) SELECT 0, 0, chain.hash FROM chain
     WHERE NOT EXISTS (SELECT FROM ledger_end WHERE seq >= 0)`,
  );
  await commitTransaction(sql);
  const [from, to] = [schemaOf(steps, version), schemaOf(steps, steps.length)];
  return version < steps.length
    ? { from, to, durationMs: performance.now() - startedAt }
    : undefined;
}

async function checkEnvironment({ query }: Session, environment: Environment): Promise<void> {
  const [row] = await query("SELECT environment FROM store WHERE id = 1");
  assertOwner(row, environment);
}

/** The rights that a role needs if it does not own the tables. Lists are separated by spaces. */
const neededRights = {
  SELECT: `store pets inventory ledger ledger_end chain remembered_keys orders keys secrets counts
    standings bans epochs checkpoints checkpoint_parts checkpoint_writer webhooks webhook_attempts
    maintenance audit audit_end sessions usage_points removed_pets
    sales sales_end stocktakes requests requests_end`,
  INSERT: `pets inventory ledger remembered_keys orders keys secrets counts standings bans epochs
    checkpoints checkpoint_parts webhooks webhook_attempts maintenance audit sessions usage_points
    removed_pets sales stocktakes requests`,
  UPDATE: `store pets inventory ledger_end orders keys secrets counts standings bans
    checkpoint_writer webhooks maintenance audit_end usage_points removed_pets sales
    sales_end stocktakes requests_end`,
  DELETE: `pets inventory remembered_keys checkpoint_parts webhooks webhook_attempts sessions
    usage_points sales requests`,
  // Every role has this right unless an administrator has revoked it.
  EXECUTE: `petstore_stock petstore_entry petstore_rows petstore_seq_at petstore_pet_rows
    petstore_pet_row_before petstore_take petstore_give_back petstore_set_quantities_between
    petstore_chain petstore_row_text`,
};

/** Throws if a right is missing. Otherwise the first use of the right would fail with a 500. */
export async function checkRights({ query }: Session): Promise<void> {
  const needed = Object.entries(neededRights).flatMap(([right, names]) =>
    names.split(/\s+/).map((name) => [name, right]),
  );
  const [row] = await query(
    `SELECT current_user::text, string_agg(needed || ' on ' || name, ', ')
     FROM unnest($1::text[], $2::text[]) AS one(name, needed)
     WHERE CASE needed WHEN 'EXECUTE' THEN NOT has_function_privilege(name::regproc, needed)
             ELSE NOT has_table_privilege(name, needed) END`,
    [textArray(needed.map(([name]) => name!)), textArray(needed.map(([, right]) => right!))],
  );
  const [role, missing] = row!;
  if (missing !== null) throw new ServiceError("unavailable", `the role ${role} needs ${missing}`);
}

/** Whether the database has the tables of a store. */
export async function hasStore({ query }: Session): Promise<boolean> {
  const [found] = await query("SELECT to_regclass('petstore_schema')::text");
  return found?.[0] !== null;
}

export async function readVersion(session: Session): Promise<{ version: number; fits: number }> {
  if (!(await hasStore(session))) return { version: 0, fits: 0 };
  const [row] = await session.query("SELECT version, fits FROM petstore_schema WHERE id = 1");
  return { version: Number(row?.[0] ?? 0), fits: Number(row?.[1] ?? 0) };
}
