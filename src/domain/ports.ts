import type { AuditStore } from "./audit.ts";
import type { CatalogueReader, CatalogueStore } from "./catalogue-store.ts";
import type { EpochStart, Position } from "./epochs.ts";
import type { Entry } from "./inventory.ts";
import type { KeyStore, SessionStore } from "./key-store.ts";
import type { Cause, Committed, LedgerRow, StockRow, Tip, UndoRow, Unit } from "./ledger.ts";
import type { LimitDecision, Usage } from "./limits.ts";
import type { MaintenanceStore } from "./maintenance.ts";
import type { Limits } from "./plans.ts";
import type {
  CountedUsage,
  ReturnedRequests,
  StrikeCount,
  TakeRequest,
  UsageStore,
} from "./usage.ts";
import type { UsageHistoryStore } from "./usage-history.ts";
import type { WebhookStore } from "./webhooks/store.ts";

/** A value, or a promise of it. An embedded engine returns values, which keeps requests fast. */
export type MaybePromise<T> = T | Promise<T>;

export interface Clock {
  /** Milliseconds since 1970. May jump, also backwards. */
  now(): number;
  /** Milliseconds since any moment. Never jumps. */
  elapsedMs(): number;
}

/** Records where the time of one request goes. Only requests that are traced have one. */
export interface Trace {
  /** Adds a part of the request. The times are those of `performance.now()`. */
  span(name: string, startedMs: number, endedMs: number): void;
}

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
   * Stores units in one transaction. Each unit is stored whole or not at all; a rejected unit does
   * not affect the others. Waits for other writers for at most `withinMs`, or the engine's bound.
   */
  commit(units: readonly Unit[], withinMs?: number): Promise<Committed>;
  /**
   * Whether these units may be committed while others are under way for which this is also true.
   * Never if an engine does not have it.
   */
  mayOverlap?(units: readonly Unit[]): boolean;
  /** False once no write can succeed until the process restarts. */
  canWrite(): boolean;
}

/** An entry, and the epoch in which the ledger row of its version was written. */
export interface VersionedEntry {
  readonly entry: Entry;
  readonly epoch: string;
}

/** A ledger row with the name of the API key that caused it. */
export interface NamedRow extends LedgerRow {
  readonly keyName: string | null;
}

/** Which rows of the ledger to read. */
export interface RowFilter {
  /** Rows with a larger `seq`. */
  readonly after: number;
  /** Rows up to this `seq`. */
  readonly upTo: number;
  readonly cause?: Cause | undefined;
  readonly keyId?: string | undefined;
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

/** The whole inventory as of one ledger row, stored in parts. It can be made again from the ledger. */
export interface Checkpoint {
  readonly seq: number;
  /** How many entries the inventory had. */
  readonly entries: number;
}

/** Consecutive entries of a checkpoint, packed. */
export interface CheckpointPart {
  readonly firstPetId: bigint;
  readonly data: Uint8Array;
}

/** Reads checkpoints. Only complete ones are visible. */
export interface CheckpointReader {
  /** The last checkpoint at or before a row. */
  findCheckpoint(seq: number): MaybePromise<Checkpoint | undefined>;
  /** The first checkpoint at or after a row. */
  findNextCheckpoint(seq: number): MaybePromise<Checkpoint | undefined>;
  /** Every checkpoint, by ascending `seq`. */
  listCheckpoints(): MaybePromise<readonly Checkpoint[]>;
  /**
   * Parts of the checkpoint at `seq` that begin with a larger pet id (null: from the first part),
   * ascending, at most `partsMax`.
   */
  partsAfter(
    seq: number,
    petId: bigint | null,
    partsMax: number,
  ): MaybePromise<readonly CheckpointPart[]>;
  /** The part of the checkpoint at `seq` that contains a pet, if the checkpoint does. */
  findPart(seq: number, petId: bigint): MaybePromise<CheckpointPart | undefined>;
}

/**
 * Writes checkpoints, each part in a short transaction of its own. One process at a time writes
 * them: its methods return false, and change nothing, once another process has taken over.
 */
export interface CheckpointStore extends CheckpointReader {
  /** Takes over the writing for `writer`, unless another process has written within seconds. */
  claim(writer: string): Promise<boolean>;
  /**
   * Removes parts of checkpoints that were not completed, at most `partsMax`. Returns the number of
   * parts removed, or false.
   */
  removeUnfinished(writer: string, partsMax: number): Promise<number | false>;
  addPart(writer: string, seq: number, part: CheckpointPart): Promise<boolean>;
  /** Makes a checkpoint visible. Returns false also if the store has left the epoch of `position`. */
  complete(writer: string, position: Position, entries: number): Promise<boolean>;
}

/** Counts requests in a database that several instances share. Each call is one transaction. */
export interface SharedUsageStore {
  /** Replaces the database's clock, so that tests can move the time. */
  readonly clock?: Clock | undefined;
  /** Counts as many requests as each key wants, or as many as it has left. */
  take(requests: readonly TakeRequest[]): Promise<ReadonlyMap<string, CountedUsage>>;
  /** Removes requests from the counts of their windows, unless those are over. */
  giveBack(returned: readonly ReturnedRequests[]): Promise<void>;
  /** Adds strikes to those that other instances counted. */
  addStrikes(strikes: readonly StrikeCount[]): Promise<ReadonlyMap<string, CountedUsage>>;
  /** Starts a ban. Returns false if another instance has started one since `previousStart`. */
  startBan(
    keyId: string,
    startedAt: number,
    until: number,
    previousStart: number,
  ): Promise<boolean>;
}

/** A row as it is stored. 64-bit integers are bigints. */
export type StoredRow = readonly unknown[];

/** The rows of one table, in batches. Engines agree on tables, columns and order. */
export type RowsOf = (table: string) => AsyncIterable<readonly StoredRow[]>;

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

/**
 * Everything that a store keeps, by what it is for. Every write is one transaction and durable when
 * its promise resolves. An engine that cannot be reached or has no space throws a ServiceError
 * `unavailable`; the outcome of that write is then unknown.
 */
export interface Store {
  readonly inventory: InventoryStore;
  readonly history: HistoryReader;
  readonly checkpoints: CheckpointStore;
  readonly idempotency: IdempotencyStore;
  readonly catalogue: CatalogueStore;
  readonly keys: KeyStore;
  readonly sessions: SessionStore;
  readonly usage: UsageStore;
  readonly usageHistory: UsageHistoryStore;
  readonly webhooks: WebhookStore;
  readonly maintenance: MaintenanceStore;
  readonly audit: AuditStore;
  readonly transfer: TransferStore;
  close(): Promise<void>;
}

/** Admits or rejects requests of valid keys. */
export interface Limiter {
  take(keyId: string, limits: Limits): MaybePromise<LimitDecision>;
  /** The last known state of a key, for the headers of a response that could not count. */
  lastKnown(keyId: string, limits: Limits): LimitDecision;
  /**
   * What this process knows of a key's requests; undefined if nothing. Several processes count
   * together, so others may know more.
   */
  findUsage(keyId: string): Readonly<Usage> | undefined;
  /** Reads bans again. Call after keys or bans changed in the store. */
  refresh(): void;
  close(): Promise<void>;
}
