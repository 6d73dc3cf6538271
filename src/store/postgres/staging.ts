import type { Batches } from "../../domain/catalogue/import-preview.ts";
import {
  type Problems,
  problemsListedMax,
  rejectProblems,
} from "../../domain/catalogue/import-problems.ts";
import { missingField, repeatedId } from "../../domain/catalogue/imports.ts";
import type { OrderRecord } from "../../domain/catalogue/orders.ts";
import type { PetRecord } from "../../domain/catalogue/pets.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { requiredFields, stagedColumns, stagedValues } from "../pet-rows.ts";
import { copyIn } from "./engine/copy.ts";
import type { Session } from "./engine/session.ts";
import { begin, waitForDisk } from "./engine/transaction.ts";

/** Temporary tables with the rows of an import. They block no other transaction, and end with theirs. */

/**
 * Begins the transaction of an import, stages pets, and adds a problem for every repeated id. Returns
 * the number of rows.
 */
export async function stagePets(
  session: Session,
  records: Batches<PetRecord>,
  problems: Problems,
): Promise<number> {
  const { sql } = session;
  await beginImport(session);
  await sql.unsafe(`CREATE TEMP TABLE staged_pets (pet_id int8, ${stagedColumns}) ON COMMIT DROP`);
  const staged = await copyIn(session, "staged_pets", records, stagedValues);
  await sql.unsafe("ANALYZE staged_pets");
  await addRepeatedIds(session, "staged_pets", "pet_id", "petId", problems);
  return staged;
}

export async function stageOrders(
  session: Session,
  records: Batches<OrderRecord>,
  problems: Problems,
): Promise<number> {
  const { sql } = session;
  await beginImport(session);
  await sql.unsafe(`CREATE TEMP TABLE staged_orders (
    id int8, pet_id int8, quantity int8, ship_date int8, status text, complete int2, line int8)
    ON COMMIT DROP`);
  const staged = await copyIn(session, "staged_orders", records, (record) => [
    record.id,
    record.petId,
    record.quantity,
    record.shipDate,
    record.status,
    record.complete ? 1 : 0,
    record.line,
  ]);
  await sql.unsafe("ANALYZE staged_orders");
  await addRepeatedIds(session, "staged_orders", "id", "id", problems);
  return staged;
}

/** Adds a problem for every new pet that lacks a required field. Throws if the import has problems. */
export async function checkPets({ query }: Session, problems: Problems): Promise<void> {
  for (const { name, column } of requiredFields) {
    const missing = await query(
      `SELECT line, pet_id, count(*) OVER () FROM staged_pets s
       WHERE ${column} IS NULL AND NOT is_bad
         AND NOT EXISTS (SELECT FROM pets p WHERE p.pet_id = s.pet_id)
       ORDER BY line LIMIT $1::int8`,
      [problemsListedMax],
    );
    for (const [line, petId] of missing) problems.add(missingField(line, name, petId));
    problems.addUnlisted(Number(missing[0]?.[2] ?? 0) - missing.length);
  }
  rejectProblems(problems);
}

async function beginImport({ query }: Session): Promise<void> {
  await query(begin);
  const [row] = await query(
    `SELECT has_database_privilege(current_database(), 'TEMPORARY'), ${waitForDisk}`,
  );
  if (row?.[0] === true) return;
  throw new ServiceError("unavailable", "the role needs TEMPORARY on the database for an import");
}

async function addRepeatedIds(
  { query }: Session,
  table: string,
  column: string,
  field: "petId" | "id",
  problems: Problems,
): Promise<void> {
  const repeats = await query(
    `SELECT line, ${column}, first_line, count(*) OVER () FROM (
       SELECT line, ${column}, row_number() OVER same AS nth, first_value(line) OVER same AS first_line
       FROM ${table} WINDOW same AS (PARTITION BY ${column} ORDER BY line)) AS numbered
     WHERE nth > 1 ORDER BY line LIMIT $1::int8`,
    [problemsListedMax],
  );
  for (const [line, id, firstLine] of repeats) {
    problems.add(repeatedId(line, field, id, firstLine));
  }
  problems.addUnlisted(Number(repeats[0]?.[3] ?? 0) - repeats.length);
}
