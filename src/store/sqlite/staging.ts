import type { Database } from "bun:sqlite";
import type { Batches } from "../../domain/catalogue/import-preview.ts";
import {
  type Problems,
  problemsListedMax,
  rejectProblems,
} from "../../domain/catalogue/import-problems.ts";
import { missingField, repeatedId } from "../../domain/catalogue/imports.ts";
import type { OrderRecord } from "../../domain/catalogue/orders.ts";
import type { PetRecord } from "../../domain/catalogue/pets.ts";
import { requiredFields, stagedColumns, stagedValues } from "../pet-rows.ts";
import { placeholders } from "../tables.ts";

/**
 * Temporary tables with the rows of an import. They need no lock on the database file, and end with
 * the connection, which is the import's own.
 */

/** Stages pets and adds a problem for every repeated id. */
export async function stagePets(
  database: Database,
  records: Batches<PetRecord>,
  problems: Problems,
): Promise<void> {
  database.run(`CREATE TEMP TABLE staged_pets (pet_id INTEGER PRIMARY KEY, ${stagedColumns})`);
  const values = placeholders(`pet_id, ${stagedColumns}`);
  const stage = database.query(`INSERT INTO staged_pets VALUES (${values}) ON CONFLICT DO NOTHING`);
  const lineOf = database.query("SELECT line FROM staged_pets WHERE pet_id = ?");
  await stageAll(database, records, (record) => {
    const { changes } = stage.run(...stagedValues(record));
    if (changes > 0) return;
    const [firstLine] = lineOf.values(record.petId)[0]!;
    problems.add(repeatedId(record.line, "petId", record.petId, firstLine));
  });
}

export async function stageOrders(
  database: Database,
  records: Batches<OrderRecord>,
  problems: Problems,
): Promise<void> {
  database.run(`CREATE TEMP TABLE staged_orders (
    id INTEGER PRIMARY KEY, pet_id INTEGER, quantity INTEGER, ship_date INTEGER, status TEXT,
    complete INTEGER, line INTEGER)`);
  const stage = database.query(
    "INSERT INTO staged_orders VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const lineOf = database.query("SELECT line FROM staged_orders WHERE id = ?");
  await stageAll(database, records, (record) => {
    const { changes } = stage.run(
      record.id,
      record.petId,
      record.quantity,
      record.shipDate,
      record.status,
      record.complete ? 1 : 0,
      record.line,
    );
    if (changes > 0) return;
    const [firstLine] = lineOf.values(record.id)[0]!;
    problems.add(repeatedId(record.line, "id", record.id, firstLine));
  });
}

/** Adds a problem for every new pet that lacks a required field. Throws if the import has problems. */
export function checkPets(database: Database, problems: Problems): void {
  for (const { name, column } of requiredFields) {
    const missing = database
      .query(
        `SELECT line, pet_id, count(*) OVER () FROM staged_pets
         WHERE ${column} IS NULL AND is_bad = 0 AND pet_id NOT IN (SELECT pet_id FROM pets)
         ORDER BY line LIMIT ?`,
      )
      .values(problemsListedMax);
    for (const [line, petId] of missing) problems.add(missingField(line, name, petId));
    problems.addUnlisted(Number(missing[0]?.[2] ?? 0) - missing.length);
  }
  rejectProblems(problems);
}

/** Stages batches of records as they arrive. */
async function stageAll<T>(
  database: Database,
  batches: Batches<T>,
  stage: (record: T) => void,
): Promise<void> {
  // Deferred, and only temporary tables are written, so the database file is not locked.
  const stageBatch = database.transaction((batch: readonly T[]) => {
    for (const record of batch) stage(record);
  });
  for await (const batch of batches) stageBatch.deferred(batch);
}
