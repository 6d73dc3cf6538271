import { type Database, SQLiteError, type SQLQueryBindings, type Statement } from "bun:sqlite";
import type {
  Batches,
  ImportPreview,
  TakeDifferences,
} from "../../domain/catalogue/import-preview.ts";
import type { Problems } from "../../domain/catalogue/import-problems.ts";
import { notUnique } from "../../domain/catalogue/imports.ts";
import { petStatuses, quantityMax } from "../../domain/ledger/inventory.ts";
import type { Value } from "../rows.ts";
import {
  checkStaged,
  findProblems,
  orderStaging,
  petStaging,
  type Staging,
  takeDifferences,
} from "../staged-rows.ts";
import { placeholders } from "../tables.ts";
import { openForReading, useConnection } from "./engine/connection.ts";
import { createRunner } from "./engine/scripts.ts";
import { createStageFile, withStageFile } from "./engine/stage-files.ts";
import { batchesOf } from "./transfer.ts";

/** How long the check of a bad file waits for a lock. */
const busyWaitMs = 8_000;

/** Rows that one statement stages: calling SQLite costs as much as staging a row. */
const blockRows = 64;

/**
 * Stages the rows of an import in a new file, and checks them. If they have a problem, also looks for those
 * that only the store shows, and rejects with all of them. Returns the number of rows.
 */
export async function stageInFile<T extends { readonly line: number }>(
  path: string,
  file: string,
  staging: Staging<T>,
  records: Batches<T>,
  problems: Problems,
): Promise<number> {
  const staged = await useConnection(createStageFile(file), async (own) => {
    const count = await stageRows(own, "", staging, records, problems);
    if (problems.count() === 0 && staging.table === petStaging.table) assertStagedStocks(own);
    return count;
  });
  if (problems.count() === 0) return staged;
  return useConnection(openForReading(path, busyWaitMs), async (own) =>
    withStageFile(own, file, () => {
      createRunner(own)(checkStaged(staging, problems));
      return staged;
    }),
  );
}

/** Checks the constraints of stock, which are off while the rows are applied. */
function assertStagedStocks(database: Database): void {
  const invalid = database.query(
    `SELECT pet_id FROM staged_pets
     WHERE quantity NOT BETWEEN 0 AND ${quantityMax}
       OR status NOT IN (${petStatuses.map((status) => `'${status}'`).join()}) LIMIT 1`,
  );
  for (const [petId] of invalid.values()) throw new Error(`the stock of pet ${petId} is invalid`);
}

/**
 * Stages the rows of an import and adds a problem for every repeated value. Returns the number of rows. A
 * temporary table needs no lock on the database file, and is dropped with the connection.
 */
async function stageRows<T extends { readonly line: number }>(
  database: Database,
  kind: "" | "TEMP",
  { table, id, idField, columns, values, ownChecks }: Staging<T>,
  records: Batches<T>,
  problems: Problems,
): Promise<number> {
  database.run(`CREATE ${kind} TABLE ${table} (${id} INTEGER PRIMARY KEY, ${columns})`);
  const row = `(?, ${placeholders(columns)})`;
  const stageBlock = database.query(
    `INSERT INTO ${table} VALUES ${Array(blockRows).fill(row).join()}`,
  );
  const stageRow = database.query(`INSERT INTO ${table} VALUES ${row} ON CONFLICT DO NOTHING`);
  const lineOf = database.query(`SELECT line FROM ${table} WHERE ${id} = ?`);
  let staged = 0;
  const stageEach = (block: readonly T[]) => {
    for (const record of block) {
      const bound = values(record);
      const { changes } = stageRow.run(...bound);
      staged += changes;
      if (changes > 0) continue;
      const [firstLine] = lineOf.values(bound[0]!)[0]!;
      problems.add(notUnique(record.line, idField, bound[0], `line ${firstLine} has it too`));
    }
  };
  // Deferred, and the store is not written, so its file is not locked.
  const stageBatch = database.transaction((batch: readonly T[]) => {
    for (let at = 0; at < batch.length; at += blockRows) {
      const block = batch.slice(at, at + blockRows);
      if (block.length === blockRows && runsWithoutConflict(stageBlock, block.flatMap(values))) {
        staged += blockRows;
      } else stageEach(block);
    }
  });
  for await (const batch of records) stageBatch.deferred(batch);
  createRunner(database)(findProblems(ownChecks, problems));
  return staged;
}

/** Runs a statement, which changes nothing if it repeats an id. Returns false then. */
function runsWithoutConflict(statement: Statement, bound: Value[]): boolean {
  try {
    // One array. Thousands of arguments would be copied.
    statement.run(bound as unknown as SQLQueryBindings);
    return true;
  } catch (error) {
    if (error instanceof SQLiteError && error.code === "SQLITE_CONSTRAINT_PRIMARYKEY") return false;
    throw error;
  }
}

/** Previews one import on a connection of its own, which is closed after it. */
export function createPreview(database: Database): ImportPreview {
  const preview =
    <T extends { readonly line: number }>(staging: Staging<T>) =>
    async (records: Batches<T>, problems: Problems, take: TakeDifferences) => {
      const staged = await stageRows(database, "TEMP", staging, records, problems);
      // All reads from here on see one state of the store.
      database.run("BEGIN");
      createRunner(database)(checkStaged(staging, problems));
      return takeDifferences(staging, batchesOf(database, staging.different), staged, take);
    };
  return { previewPets: preview(petStaging), previewOrders: preview(orderStaging) };
}
