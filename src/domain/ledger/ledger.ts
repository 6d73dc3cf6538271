import type { Entry, PetStatus, Stock } from "./inventory.ts";

export const causes = ["api", "import", "undo", "console", "count"] as const;
export type Cause = (typeof causes)[number];

/** One change to one entry. Rows are only added. Applying all of them in order gives the inventory. */
export interface LedgerRow {
  readonly seq: number;
  readonly petId: bigint;
  /** Null when this row creates the entry. */
  readonly before: Stock | null;
  /** Null when this row removes the entry. */
  readonly after: Stock | null;
  /** The `seq` of this pet's previous row, or null. Following it gives the pet's history. */
  readonly previous: number | null;
  readonly cause: Cause;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly reason: string | null;
  /** Milliseconds since 1970. Never decreases with `seq`, even if the clock goes back. */
  readonly at: number;
}

/** A ledger row with the name of the API key that caused it. */
export interface NamedRow extends LedgerRow {
  readonly keyName: string | null;
}

/** The part of a row that a copy of the inventory needs. */
export type StockRow = Pick<LedgerRow, "seq" | "petId" | "after">;

/** The part of a row that is needed to undo it in a copy of the inventory. */
export type UndoRow = Pick<LedgerRow, "seq" | "petId" | "before" | "previous">;

/** A requested change to one pet's quantity. */
export interface Change {
  readonly petId: bigint;
  /**
   * `set` replaces the quantity with `amount`; `add` adds `amount`, which may be negative. `count` means
   * that there were `amount` at `countedAt`: what changed since is kept.
   */
  readonly kind: "set" | "add" | "count";
  /** A safe integer, so that the sum with a quantity is exact wherever it is accepted. */
  readonly amount: number;
  /** The new status. Undefined keeps the current one. */
  readonly status?: PetStatus | undefined;
  /** The entry must be at one of these versions. Undefined accepts any version. */
  readonly expected?: readonly ExpectedVersion[] | undefined;
  /** The last row of the ledger when the pet was counted. Every `count` has it, and nothing else. */
  readonly countedAt?: CountedAt | undefined;
  readonly reason: string | null;
}

/** A version that a client has seen. */
export interface ExpectedVersion {
  readonly seq: number;
  /**
   * The epoch in which that row was written; undefined accepts any. After a restore the same `seq`
   * may be another change, which only the epoch reveals.
   */
  readonly epoch?: string | undefined;
}

export interface CountedAt extends ExpectedVersion {
  /**
   * When the pet was counted, by the clock of the engine, if `seq` may not be the last row before that:
   * whoever counted had not heard of later ones. Those that were stored by then belong before the count.
   */
  readonly time?: number | undefined;
}

/** Why a row was added, and by whom. */
export type RowOrigin = Pick<LedgerRow, "cause" | "keyId" | "requestId" | "reason">;

/** One or more changes that are stored together or not at all. */
export interface Unit {
  readonly changes: readonly Change[];
  readonly cause: Cause;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly idempotency?: IdempotentRequest | undefined;
  /** True if the rules are applied and nothing is stored. Such a unit has no idempotency key. */
  readonly isDryRun?: boolean | undefined;
}

/** Identifies a request that a client may send again. Both digests are 32 hexadecimal digits. */
export interface IdempotentRequest {
  /** A digest of the API key and the idempotency key. */
  readonly key: string;
  /** A digest of what was requested. The same key with another request is an error. */
  readonly request: string;
  /** How long the result is remembered. */
  readonly keptMs: number;
}

/**
 * Why a unit was not stored. `out_of_range`: the quantity would be below 0 or above 2^53 - 1.
 * `key_reused`: its idempotency key belongs to another request. `count_outdated`: the ledger cannot
 * tell what changed since the count. `count_untimed`: its time does not order it among the rows.
 */
export type RejectionReason =
  | "not_found"
  | "version_mismatch"
  | "out_of_range"
  | "key_reused"
  | "count_outdated"
  | "count_untimed";

/** The result of one unit. */
export type Outcome = Stored | Rejected;

export interface Stored {
  readonly kind: "stored";
  /** The entries as they were stored, one per change, in the order of the changes. */
  readonly entries: readonly Entry[];
  /** The epoch in which the rows of these entries were written. */
  readonly epoch: string;
  /** True if an earlier unit with the same idempotency key stored them. This unit added no rows. */
  readonly isReplayed: boolean;
  /**
   * The entries before each change, if the unit was a dry run. It added no rows: `entries` are as they
   * would be, with the versions that they have now.
   */
  readonly before?: readonly Entry[] | undefined;
}

/** A change that breaks a rule. */
export interface RejectedChange {
  readonly reason: RejectionReason;
  /** Its index in the unit. */
  readonly index: number;
  /** The quantity that is out of range. */
  readonly quantity?: number | undefined;
}

/** The first change of a unit that breaks a rule. */
export interface Rejected extends RejectedChange {
  readonly kind: "rejected";
  /** The entry as it is stored, without any change of this unit; undefined if there is no such pet. */
  readonly current: Entry | undefined;
  /** The epoch of the current version. Undefined unless the reason is `version_mismatch`. */
  readonly epoch: string | undefined;
  /** The later ones. Each change is judged as if those that break a rule were not in the unit. */
  readonly others?: readonly RejectedChange[] | undefined;
}

/** At most so many changes of a unit are reported. */
export const rejectedMax = 100;

export interface Committed {
  /** The epoch in which the rows were written. */
  readonly epoch: string;
  /** The rows added to the ledger, in order. Only these move a copy of the inventory. */
  readonly rows: readonly StockRow[];
  /** One per unit, in the order of the units. */
  readonly outcomes: readonly Outcome[];
}

/** Where the ledger ends. */
export interface Tip {
  /** 0 if the ledger is empty. */
  readonly seq: number;
  readonly at: number;
  /** The hash of the last row. */
  readonly hash: string;
}

/** The largest `seq` that a client can name. */
export const seqMax = Number.MAX_SAFE_INTEGER;

/**
 * A ledger row as the API and the commands print it. Written by hand, because JSON.stringify has no
 * exact form for a bigint and takes longer.
 */
export function ledgerRowJson(row: NamedRow): string {
  const key = `"keyId":${JSON.stringify(row.keyId)},"keyName":${JSON.stringify(row.keyName)}`;
  const request = `"reason":${JSON.stringify(row.reason)},"requestId":${JSON.stringify(row.requestId)}`;
  return `{"seq":${row.seq},"petId":${row.petId},"before":${stockJson(row.before)},"after":${stockJson(row.after)},"cause":"${row.cause}",${key},${request},"at":"${new Date(row.at).toISOString()}"}`;
}

export function stockJson(stock: Stock | null): string {
  return stock ? `{"quantity":${stock.quantity},"status":"${stock.status}"}` : "null";
}
