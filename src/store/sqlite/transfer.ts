import type { Database, SQLQueryBindings } from "bun:sqlite";
import { genesisHash } from "../../domain/ledger/chain.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { RowsOf } from "../../domain/verification/store.ts";
import { anyRow, batchRows, placeholders, selectAll, type Table, tables } from "../tables.ts";

/** Reads whole tables. The connection must be in a read transaction. */
export function rowsFrom(database: Database): RowsOf {
  return (name, fromSeq) => batchesOf(database, selectAll(name, name, fromSeq));
}

/** The rows of a query, in batches. */
export async function* batchesOf(database: Database, sql: string): AsyncGenerator<unknown[][]> {
  let batch: unknown[][] = [];
  try {
    for (const row of database.query(sql).iterate()) {
      batch.push(Object.values(row as object));
      if (batch.length < batchRows) continue;
      yield batch;
      batch = [];
    }
  } finally {
    // The rows before a damaged page are returned, too.
    if (batch.length > 0) yield batch;
  }
}

export const setHeadFromLedger = `UPDATE head SET seq = (SELECT coalesce(max(seq), 0) FROM ledger),
  at = (SELECT coalesce(max(at), 0) FROM ledger), keys_version = keys_version + 1,
  hash = coalesce((SELECT lower(hex(hash)) FROM ledger ORDER BY seq DESC LIMIT 1), '${genesisHash}')`;

/** Copies every row of another store, all or none. */
export async function importTables(database: Database, rowsOf: RowsOf): Promise<void> {
  database.run("BEGIN IMMEDIATE");
  try {
    const [present] = database.query(anyRow).values()[0]!;
    if (Number(present) !== 0) throw new ServiceError("invalid_request", "the target is not empty");
    // The epoch of an empty store covers no row. The next open adds it again, after the last row.
    database.run("DELETE FROM epochs");
    for (const table of tables) {
      const insert = database.query(insertInto(table));
      for await (const batch of rowsOf(table.name)) {
        for (const row of batch) insert.run(...(row as SQLQueryBindings[]));
      }
    }
    database.run(setHeadFromLedger);
    database.run("COMMIT");
  } catch (error) {
    // SQLite has already rolled back after some errors, such as a full disk.
    if (database.inTransaction) database.run("ROLLBACK");
    throw error;
  }
}

export function insertInto({ name, columns }: Table): string {
  return `INSERT INTO ${name} (${columns}) VALUES (${placeholders(columns)})`;
}
