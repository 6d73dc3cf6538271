import type { CatalogueReader } from "../catalogue/store.ts";
import type { HistoryReader, InventoryReader } from "../ledger/store.ts";
import type { MaybePromise } from "../running/clock.ts";
import type { CheckpointReader } from "../snapshots/store.ts";

/** A row as it is stored. 64-bit integers are bigints. */
export type StoredRow = readonly unknown[];

/**
 * The rows of one table, in batches. Engines agree on tables, columns and order. With `fromSeq`, the
 * rows before it may be left out of a table in the order of `seq`.
 */
export type RowsOf = (table: string, fromSeq?: number) => AsyncIterable<readonly StoredRow[]>;

/** One inconsistency in a store: where it is, what was found, and what was expected. */
export interface Fault {
  readonly where: string;
  readonly found: string;
  readonly expected: string;
}

/** A whole store as of one moment. */
export interface Snapshot
  extends InventoryReader,
    HistoryReader,
    CatalogueReader,
    CheckpointReader {
  readonly rowsOf: RowsOf;
  /** Checks the engine's own pages, indexes and triggers. */
  checkStructure(): MaybePromise<readonly Fault[]>;
}

export interface TransferStore {
  /** Runs `work` on one consistent state of the whole store. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** Copies every row of another store, all or none. Rejects unless this store is empty. */
  importTables(rowsOf: RowsOf): Promise<void>;
}
