import { randomUUID } from "node:crypto";
import type { Environment } from "../../domain/keys/keys.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { assertOwner, assertSchema, schemaNumber } from "../schema.ts";
import { textArray } from "./engine/arrays.ts";
import type { Session } from "./engine/session.ts";
import { begin, commitTransaction } from "./engine/transaction.ts";
import { schema } from "./schema.ts";

/** The key of an advisory lock. Arbitrary, but no other application on the server may use it. */
const creationLock = 7_381_002;

/** Versions before 0.17.0 read `fits`: the lowest schema whose code can still use the store. */
const numberTable = `CREATE TABLE IF NOT EXISTS petstore_schema (
  id int2 PRIMARY KEY CHECK (id = 1), version int4 NOT NULL, fits int4 NOT NULL)`;

/**
 * Creates the tables in an empty database. Checks that an existing store fits: its schema, its
 * environment, and the rights of the role. If several instances start together, one creates the tables
 * and the others wait for it. Returns whether this one did.
 */
export async function createOrCheck(session: Session, environment: Environment): Promise<boolean> {
  let isCreated = false;
  if ((await readNumber(session)) === 0) {
    await session.query(begin);
    isCreated = await createTables(session, environment);
    await commitTransaction(session.sql);
  }
  assertSchema(await readNumber(session));
  await checkRights(session);
  const [row] = await session.query("SELECT environment FROM store WHERE id = 1");
  assertOwner(row, environment);
  return isCreated;
}

/** Creates the tables in a transaction that was begun. Returns false if there are tables already. */
export async function createTables(session: Session, environment: Environment): Promise<boolean> {
  const { sql, query } = session;
  await query("SELECT pg_advisory_xact_lock($1::int8)", [creationLock]);
  await sql.unsafe(numberTable);
  // Not by `to_regclass`, which may not see a table that was committed while this waited for the lock.
  const isMissing = (await query("SELECT FROM petstore_schema")).length === 0;
  if (isMissing) {
    await sql.unsafe(schema);
    await query("INSERT INTO petstore_schema VALUES (1, $1::int4, $1::int4)", [schemaNumber]);
    await query(
      `INSERT INTO store (id, environment, epoch, keys_version)
       VALUES (1, $1::text, $2::text, 0)`,
      [environment, randomUUID()],
    );
  }
  return isMissing;
}

/** The rights that a role needs if it does not own the tables. Lists are separated by spaces. */
const neededRights = {
  SELECT: `store pets inventory ledger ledger_end remembered_keys orders keys secrets counts
    standings bans epochs checkpoints checkpoint_parts checkpoint_writer webhooks webhook_attempts
    maintenance audit audit_end sessions usage_points removed_pets
    sales sales_end stocktakes requests requests_end made`,
  INSERT: `pets inventory ledger remembered_keys orders keys secrets counts standings bans epochs
    checkpoints checkpoint_parts webhooks webhook_attempts maintenance audit sessions usage_points
    removed_pets sales stocktakes requests made`,
  UPDATE: `store pets inventory ledger_end orders keys secrets counts standings bans
    checkpoint_writer webhooks maintenance audit_end usage_points removed_pets sales
    sales_end stocktakes requests_end made`,
  DELETE: `pets inventory remembered_keys checkpoint_parts webhooks webhook_attempts sessions
    usage_points sales requests made`,
  // Every role has this right unless an administrator has revoked it.
  EXECUTE: `petstore_stock petstore_entry petstore_rows petstore_seq_at petstore_pet_rows
    petstore_pet_row_before petstore_take petstore_give_back petstore_set_quantities
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

/** The number of the store's schema, or 0 if the database has no store. */
export async function readNumber({ query }: Session): Promise<number> {
  const [found] = await query("SELECT to_regclass('petstore_schema')::text");
  if (found?.[0] === null) return 0;
  const [row] = await query("SELECT version FROM petstore_schema WHERE id = 1");
  return Number(row?.[0] ?? 0);
}
