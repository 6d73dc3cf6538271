import type { Entry } from "./inventory.ts";
import type { Key, Secret } from "./keys.ts";
import type { Change, LedgerRow, Outcome, StockRow } from "./ledger.ts";
import type { Usage, Verdict } from "./limits.ts";
import type { Order, OrderPage, OrderRecord } from "./orders.ts";
import type { Pet, PetRecord } from "./pets.ts";
import type { Limits } from "./plans.ts";

/** A value at hand, or later: engines inside the process answer at once and keep the hot path flat. */
export type Soon<T> = T | Promise<T>;

export interface Clock {
  /** Milliseconds since 1970. May jump, backwards too. */
  now(): number;
}

/** Writes one line of the service's log; nothing secret is ever handed to it. */
export type Log = (event: string, details?: Record<string, unknown>) => void;

/** The store at one moment, as seen from outside. */
export interface Head {
  /** Random per store: two stores with one epoch and one `seq` have the same ledger. */
  readonly epoch: string;
  /** The last ledger row's `seq`; 0 when there is none. */
  readonly seq: number;
  /** Grows with every change to keys and bans. */
  readonly keysVersion: number;
}

/** Reading, in pages so that nothing has to fit into memory at once. */
export interface Reader {
  /** The head as it is now: every commit answered before the call is in it. */
  look(): Soon<Head>;
  /**
   * True once the store is known to have left this epoch. What was read since a head of it was
   * looked up may be of the next one. For engines whose server can be replaced while they serve.
   */
  isOutdated?(epoch: string): boolean;
  /** Ledger rows after `seq`, in order, at most `rowsMax`. */
  ledgerAfter(seq: number, rowsMax: number): Soon<readonly LedgerRow[]>;
  /** The same rows with no more than a follower needs, where an engine gives that for less. */
  stockAfter?(seq: number, rowsMax: number): Soon<readonly StockRow[]>;
  /** Entries with a larger petId (null: from the first), ascending, at most `rowsMax`. */
  entriesAfter(petId: bigint | null, rowsMax: number): Soon<readonly Entry[]>;
  petsAfter(petId: bigint | null, rowsMax: number): Soon<readonly Pet[]>;
  findPet(petId: bigint): Soon<Pet | undefined>;
  /** Orders by descending id. */
  listOrders(page: OrderPage): Soon<readonly Order[]>;
}

export interface Imported {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
}

export interface KeyStore {
  findSecret(digest: string): Soon<{ key: Key; secret: Secret } | undefined>;
  listKeys(): Promise<readonly Key[]>;
  findKey(id: string): Promise<Key | undefined>;
  addKey(key: Key, digest: string): Promise<void>;
  /** Adds a secret; the key's other secrets end at `othersExpireAt` at the latest. */
  addSecret(keyId: string, digest: string, now: number, othersExpireAt: number): Promise<void>;
  revokeKey(keyId: string, now: number): Promise<void>;
}

export interface Ban {
  readonly keyId: string;
  readonly startedAt: number;
  readonly until: number;
  readonly liftedAt: number | null;
}

export type SavedUsage = Pick<
  Usage,
  "minuteStart" | "minuteCount" | "dayStart" | "dayCount" | "lastUsedAt"
> & { readonly keyId: string };

/** Where a limiter that counts in memory leaves its numbers, so that they survive a restart. */
export interface UsageJournal {
  loadUsage(): Promise<readonly SavedUsage[]>;
  saveUsage(rows: readonly SavedUsage[]): Promise<void>;
  /** The latest ban of every key that has one. */
  loadBans(): Promise<readonly Ban[]>;
  saveBan(ban: Ban): Promise<void>;
  /** Ends a key's ban; false if none was in force. */
  liftBan(keyId: string, now: number): Promise<boolean>;
}

/** A row as it is stored, before anything is read into it. 64-bit integers are bigints. */
export type StoredRow = readonly unknown[];

/** The rows of one table, in batches; engines agree on tables, columns and order. */
export type RowsOf = (table: string) => AsyncIterable<readonly StoredRow[]>;

/** One thing that is wrong in a store: where, what is there, and what should be. */
export interface Fault {
  readonly where: string;
  readonly found: string;
  readonly expected: string;
}

/** One consistent state of a whole store. */
export interface Snapshot extends Reader {
  readonly rowsOf: RowsOf;
  /** What the engine finds wrong with its own pages, indexes and triggers. */
  checkStructure(): Soon<readonly Fault[]>;
}

/**
 * A durable shop. `commit`, the imports and the key operations are each one transaction, durable
 * when their promise resolves. An engine that cannot be reached or has no room throws a Refusal
 * `unavailable`; nothing of the operation then counts as answered.
 */
export interface Store extends Reader, KeyStore, UsageJournal {
  /** False once no write can succeed any more until the process is started anew. */
  canWrite?(): boolean;
  /** A look that costs no wait; engines across a network have none. */
  glance?(): Head;
  /**
   * For engines without a glance: calls back when keys or bans were changed, at once if through
   * this store, within a second if elsewhere.
   */
  onKeysChanged?(listener: () => void): void;
  /** Runs `work` on one consistent state of the whole store. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /**
   * One transaction for all; one outcome per change, in their order. An engine that has to wait for
   * others waits no longer than `withinMs`, or than its own bound.
   */
  commit(changes: readonly Change[], withinMs?: number): Promise<readonly Outcome[]>;
  /**
   * Upserts pets by id, all or none. Rows are staged as they come and applied in one short
   * transaction. A known pet keeps what a row does not give; each entry created or changed is a
   * ledger row.
   */
  importPets(records: AsyncIterable<readonly PetRecord[]>, reason: string): Promise<Imported>;
  importOrders(records: AsyncIterable<readonly OrderRecord[]>): Promise<Imported>;
  /** Hands out every row there is, as of one moment. */
  carryOut<T>(work: (rowsOf: RowsOf) => Promise<T>): Promise<T>;
  /** Takes over every row of another store, all or none; refused unless this one is empty. */
  carryIn(rowsOf: RowsOf): Promise<void>;
  close(): Promise<void>;
}

/** Admits or refuses requests of valid keys. */
export interface Limiter {
  take(keyId: string, limits: Limits): Soon<Verdict>;
  /** How a key stood when last known, for the headers of an answer given without asking. */
  recall(keyId: string, limits: Limits): Verdict;
  /** Keys or bans changed in the store: look again at what was lifted. */
  refresh(): void;
  close(): Promise<void>;
}
