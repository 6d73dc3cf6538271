import { type Entry, isQuantity, type Stock } from "./inventory.ts";

export const causes = ["api", "import"] as const;
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

/** The part of a row that a copy of the inventory needs. */
export type StockRow = Pick<LedgerRow, "seq" | "petId" | "after">;

/** A requested change to one pet's quantity. */
export interface Change {
  readonly petId: bigint;
  /** `set` replaces the quantity with `amount`; `add` adds `amount`, which may be negative. */
  readonly kind: "set" | "add";
  /** A safe integer, so that the sum with a quantity is exact wherever it is accepted. */
  readonly amount: number;
  /** The entry must be at one of these versions. Undefined accepts any version. */
  readonly expected?: readonly ExpectedVersion[] | undefined;
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

/** One or more changes that are stored together or not at all. */
export interface Unit {
  readonly changes: readonly Change[];
  readonly cause: Cause;
  readonly keyId: string | null;
  readonly requestId: string | null;
}

/** Why a unit was not stored. `out_of_range`: the quantity would be below 0 or above 2^53 - 1. */
export type RejectionReason = "not_found" | "version_mismatch" | "out_of_range";

/** The result of one unit. */
export type Outcome = Stored | Rejected;

export interface Stored {
  readonly kind: "stored";
  /** The entries as they were stored, one per change, in the order of the changes. */
  readonly entries: readonly Entry[];
}

export interface Rejected {
  readonly kind: "rejected";
  readonly reason: RejectionReason;
  /** The index of the change that broke the rule. */
  readonly index: number;
  /** The entry as it is stored, without any change of this unit; undefined if there is no such pet. */
  readonly current: Entry | undefined;
}

export interface Committed {
  /** The epoch in which the rows were written. */
  readonly epoch: string;
  /** The rows added to the ledger, in order. Only these move a copy of the inventory. */
  readonly rows: readonly LedgerRow[];
  /** One per unit, in the order of the units. */
  readonly outcomes: readonly Outcome[];
}

/** Where the ledger ends. */
export interface Tip {
  readonly seq: number;
  readonly at: number;
}

export interface Appended extends Committed {
  readonly tip: Tip;
}

/** Everything that `append` needs of the store, read in the transaction that holds the head. */
export interface LedgerState {
  readonly epoch: string;
  readonly tip: Tip;
  /** The current entry of every pet that the units name. `append` updates it. */
  readonly entries: Map<bigint, Entry>;
  /** The epoch in which a row was written. Called only for an expected version with an epoch. */
  epochOf(seq: number): string | undefined;
}

/**
 * Turns units of changes into ledger rows. Units are applied in order, and each change starts from
 * the result of the change before it. Both engines call this inside the transaction that holds the
 * ledger's head, so the rules exist once.
 */
export function append(state: LedgerState, units: readonly Unit[], now: number): Appended {
  const { epoch, tip } = state;
  const at = Math.max(now, tip.at);
  const rows: LedgerRow[] = [];
  const outcomes = units.map((unit) => appendUnit(state, unit, rows, at));
  return { epoch, rows, outcomes, tip: rows.length > 0 ? { seq: tip.seq + rows.length, at } : tip };
}

function appendUnit(state: LedgerState, unit: Unit, rows: LedgerRow[], at: number): Outcome {
  const { entries, tip } = state;
  const { changes, cause, keyId, requestId } = unit;
  const replaced: Entry[] = [];
  const stored: Entry[] = [];
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index]!;
    const { petId, reason } = change;
    const before = entries.get(petId);
    const quantity = quantityAfter(state, change, before);
    if (typeof quantity === "string") {
      // Restores what earlier changes of this unit replaced, the last one first.
      for (const entry of replaced.reverse()) entries.set(entry.petId, entry);
      rows.length -= replaced.length;
      return { kind: "rejected", reason: quantity, index, current: entries.get(petId) };
    }
    const { status, version: previous } = before!;
    const seq = tip.seq + rows.length + 1;
    const after: Entry = { petId, quantity, status, version: seq };
    rows.push({
      seq,
      petId,
      before: before!,
      after,
      previous,
      cause,
      keyId,
      requestId,
      reason,
      at,
    });
    entries.set(petId, after);
    replaced.push(before!);
    stored.push(after);
  }
  return { kind: "stored", entries: stored };
}

/** The quantity that a change leaves, or the rule that it breaks. */
function quantityAfter(
  { epochOf }: LedgerState,
  { kind, amount, expected }: Change,
  before: Entry | undefined,
): number | RejectionReason {
  if (!before) return "not_found";
  if (expected && !expected.some((version) => isAt(before, version, epochOf))) {
    return "version_mismatch";
  }
  const quantity = kind === "set" ? amount : before.quantity + amount;
  return isQuantity(quantity) ? quantity : "out_of_range";
}

function isAt(
  { version }: Entry,
  { seq, epoch }: ExpectedVersion,
  epochOf: LedgerState["epochOf"],
): boolean {
  return version === seq && (epoch === undefined || epochOf(version) === epoch);
}
