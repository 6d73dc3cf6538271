import type { Entry, Stock } from "./inventory.ts";

export const causes = ["api", "import"] as const;
export type Cause = (typeof causes)[number];

/** One change to one entry. Rows are only ever added; the inventory is their fold. */
export interface LedgerRow {
  readonly seq: number;
  readonly petId: bigint;
  /** Null when this row creates the entry. */
  readonly before: Stock | null;
  /** Null when this row removes the entry. */
  readonly after: Stock | null;
  /** The `seq` of this pet's previous row, or null: walking it gives a pet's history. */
  readonly previous: number | null;
  readonly cause: Cause;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly reason: string | null;
  /** Milliseconds since 1970. Never decreases with `seq`, whatever the clock does. */
  readonly at: number;
}

/** What a row says of the stock, without who and why. */
export type StockRow = Pick<LedgerRow, "seq" | "petId" | "after">;

/** A wish to set one pet's quantity. */
export interface Change {
  readonly petId: bigint;
  readonly quantity: number;
  readonly cause: Cause;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly reason: string | null;
}

/** The entry as it is after the change, or why there was none. */
export type Outcome = Entry | "not_found";

/** Where the ledger ends. */
export interface Tip {
  readonly seq: number;
  readonly at: number;
}

export interface Appended {
  readonly rows: readonly LedgerRow[];
  /** One per change, in the order of the changes. */
  readonly outcomes: readonly Outcome[];
  readonly tip: Tip;
}

/**
 * Turns a group of changes into ledger rows. `entries` holds the current entry of every pet named
 * and is moved forward, so that a pet named twice gets two rows, the second starting where the
 * first ended. Both engines call this inside the transaction that holds the ledger's head.
 */
export function append(
  tip: Tip,
  entries: Map<bigint, Entry>,
  changes: readonly Change[],
  now: number,
): Appended {
  const at = Math.max(now, tip.at);
  let seq = tip.seq;
  const rows: LedgerRow[] = [];
  const outcomes: Outcome[] = [];
  for (const change of changes) {
    const entry = entries.get(change.petId);
    if (entry === undefined) {
      outcomes.push("not_found");
      continue;
    }
    seq += 1;
    const after: Entry = {
      petId: change.petId,
      quantity: change.quantity,
      status: entry.status,
      version: seq,
    };
    rows.push({
      seq,
      petId: change.petId,
      before: entry,
      after,
      previous: entry.version,
      cause: change.cause,
      keyId: change.keyId,
      requestId: change.requestId,
      reason: change.reason,
      at,
    });
    entries.set(change.petId, after);
    outcomes.push(after);
  }
  return { rows, outcomes, tip: rows.length > 0 ? { seq, at } : tip };
}
