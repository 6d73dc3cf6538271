import type { Database } from "bun:sqlite";
import type {
  Batches,
  ImportPreview,
  TakeDifferences,
} from "../../domain/catalogue/import-preview.ts";
import type { Problems } from "../../domain/catalogue/import-problems.ts";
import { repeatedId } from "../../domain/catalogue/imports.ts";
import {
  checkStaged,
  orderStaging,
  petStaging,
  type Staging,
  takeDifferences,
} from "../staged-rows.ts";
import { placeholders } from "../tables.ts";
import { createRunner } from "./engine/scripts.ts";
import { batchesOf } from "./transfer.ts";

/**
 * Stages the rows of an import and adds a problem for every repeated id. Returns the number of rows. The
 * temporary table needs no lock on the database file. It is dropped with the connection, which only this
 * import uses.
 */
export async function stageRows<T extends { readonly line: number }>(
  database: Database,
  { table, id, idField, columns, values }: Staging<T>,
  records: Batches<T>,
  problems: Problems,
): Promise<number> {
  database.run(`CREATE TEMP TABLE ${table} (${id} INTEGER PRIMARY KEY, ${columns})`);
  const stage = database.query(
    `INSERT INTO ${table} VALUES (?, ${placeholders(columns)}) ON CONFLICT DO NOTHING`,
  );
  const lineOf = database.query(`SELECT line FROM ${table} WHERE ${id} = ?`);
  let staged = 0;
  // Deferred, and only temporary tables are written, so the database file is not locked.
  const stageBatch = database.transaction((batch: readonly T[]) => {
    for (const record of batch) {
      const row = values(record);
      const { changes } = stage.run(...row);
      staged += changes;
      if (changes > 0) continue;
      const [firstLine] = lineOf.values(row[0]!)[0]!;
      problems.add(repeatedId(record.line, idField, row[0], firstLine));
    }
  });
  for await (const batch of records) stageBatch.deferred(batch);
  return staged;
}

/** Previews one import on a connection of its own, which is closed after it. */
export function createPreview(database: Database): ImportPreview {
  const preview =
    <T extends { readonly line: number }>(staging: Staging<T>) =>
    async (records: Batches<T>, problems: Problems, take: TakeDifferences) => {
      const staged = await stageRows(database, staging, records, problems);
      // All reads from here on see one state of the store.
      database.run("BEGIN");
      createRunner(database)(checkStaged(staging, problems));
      return takeDifferences(staging, batchesOf(database, staging.different), staged, take);
    };
  return { previewPets: preview(petStaging), previewOrders: preview(orderStaging) };
}
