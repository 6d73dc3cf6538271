import type { MaybePromise } from "../running/clock.ts";
import type { EpochStart } from "./epochs.ts";
import type { Entry } from "./inventory.ts";
import type {
  Cause,
  Committed,
  LedgerRow,
  NamedRow,
  StockRow,
  Tip,
  UndoRow,
  Unit,
} from "./ledger.ts";

/** Where the store's ledger ends. */
export interface Head {
  /** Two stores with the same epoch and the same `seq` have the same ledger. */
  readonly epoch: string;
  /** The `seq` of the last ledger row; 0 when there is none. */
  readonly seq: number;
  /** Grows with every change to keys and bans. */
  readonly keysVersion: number;
}

/** Reads the inventory and its ledger, in pages, so that nothing has to fit into memory at once. */
export interface InventoryReader {
  /** Reads the head. It includes every commit that returned before the call. */
  readHead(): MaybePromise<Head>;
  /**
   * True once the store is known to have left this epoch. Rows that were read after a head of this
   * epoch may belong to the next one. Always false where the server cannot be replaced.
   */
  isOutdated(epoch: string): boolean;
  /** Ledger rows after `seq`, in order, at most `rowsMax`. */
  ledgerAfter(seq: number, rowsMax: number): MaybePromise<readonly LedgerRow[]>;
  /** The same rows with only the fields that a copy of the inventory needs. */
  stockAfter(seq: number, rowsMax: number): MaybePromise<readonly StockRow[]>;
  /** Rows up to `seq`, the last one first, with the fields that are needed to undo them. */
  undoFrom(seq: number, rowsMax: number): MaybePromise<readonly UndoRow[]>;
  /** Entries with a larger petId (null: from the first), ascending, at most `rowsMax`. */
  entriesAfter(petId: bigint | null, rowsMax: number): MaybePromise<readonly Entry[]>;
  /** Every epoch of the store, in the order in which they began. */
  listEpochs(): MaybePromise<readonly EpochStart[]>;
}

export interface InventoryStore extends InventoryReader {
  /**
   * The head without a wait, or undefined where only the database server knows it. It includes
   * every commit that returned before the call.
   */
  cachedHead(): Head | undefined;
  /**
   * The time by the clock from which rows get theirs. Whatever is compared with the `at` of rows comes from
   * here. The last row can be ahead of it: after the clock was set back, rows get the time of that row.
   */
  readClock(): MaybePromise<number>;
  /**
   * Stores units in one transaction. Each unit is stored whole or not at all; a rejected unit does
   * not affect the others. Waits for other writers for at most `withinMs`, or the engine's bound.
   */
  commit(units: readonly Unit[], withinMs?: number): Promise<Committed>;
  /** True if these units can be committed concurrently with other units that also return true. */
  mayOverlap(units: readonly Unit[]): boolean;
  /** False once no write can succeed until the process restarts. */
  canWrite(): boolean;
}

/** An entry, and the epoch in which the ledger row of its version was written. */
export interface VersionedEntry {
  readonly entry: Entry;
  readonly epoch: string;
}

/** Which rows of the ledger to read. */
export interface RowFilter {
  /** Rows with a larger `seq`. */
  readonly after: number;
  /** Rows up to this `seq`. */
  readonly upTo: number;
  readonly cause?: Cause | undefined;
  readonly keyId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Reads the ledger for clients and operators. Every read includes commits that returned before it. */
export interface HistoryReader {
  findEntry(petId: bigint): MaybePromise<VersionedEntry | undefined>;
  /** The `seq` of the row that last removed a pet, even if the pet was created again later. */
  findRemoval(petId: bigint): MaybePromise<number | undefined>;
  /** Where the ledger ends, with the hash of its last row. */
  readTip(): MaybePromise<Tip>;
  /** Whether the ledger has this row with this hash. Every ledger has row 0, which is its start. */
  hasRow(seq: number, hash: string): MaybePromise<boolean>;
  /** The `seq` of the last row at or before a time, or 0. Costs a few reads in any ledger. */
  seqAt(time: number): MaybePromise<number>;
  /** Rows in order, at most `rowsMax`. Reads every row between `after` and `upTo`. */
  listRows(filter: RowFilter, rowsMax: number): MaybePromise<readonly NamedRow[]>;
  /**
   * Rows of one pet, the newest first, starting with its row `fromSeq`: each row refers to the one
   * before it. At most `rowsMax`. Empty if row `fromSeq` does not belong to the pet.
   */
  petRows(petId: bigint, fromSeq: number, rowsMax: number): MaybePromise<readonly NamedRow[]>;
  /**
   * The first row of a pet with a `seq` less than `before`, starting with its row `fromSeq` and
   * following at most `stepsMax` references. Returns the `seq` where the search ended, which may
   * still be `before` or more, or 0 after the pet's first row.
   */
  petRowBefore(
    petId: bigint,
    fromSeq: number,
    before: number,
    stepsMax: number,
  ): MaybePromise<number>;
}

/** Forgets idempotency keys. `commit` stores and finds them. */
export interface IdempotencyStore {
  /** Reads stored keys into memory before the first request needs them. */
  prepare(): Promise<void>;
  /** Deletes keys stored before a time, at most `commitsMax` commits' worth. Returns that number. */
  prune(before: number, commitsMax: number): Promise<number>;
}

/** The parts of a store that keep the inventory and its ledger. */
export interface LedgerParts {
  readonly inventory: InventoryStore;
  readonly history: HistoryReader;
  readonly idempotency: IdempotencyStore;
}

/** The rows of a list between two others. */
export interface SeqRange {
  /** Rows with a larger `seq`. */
  readonly after?: number | undefined;
  /** Rows with a smaller `seq`. */
  readonly before?: number | undefined;
}

/** One page of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The `seq` where the next page starts. Undefined after the last row. */
  readonly next: number | undefined;
}

/** A page of rows, of which one more than requested was read: it shows whether there is a next page. */
export function pageOf<Row extends { readonly seq: number }>(
  found: readonly Row[],
  limit: number,
  otherwise?: number,
): Page<Row> {
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? rows.at(-1)!.seq : otherwise };
}
