import type { NamedRow } from "../ledger/ledger.ts";
import type { LedgerTail } from "../ledger/tail.ts";
import { createBatch, type Message } from "./message.ts";
import type { Pace } from "./pace.ts";
import type { Webhook } from "./webhook.ts";

/** What was found in the ledger after a row. */
export interface Scan {
  /** Undefined if no change was wanted. */
  readonly message: Message | undefined;
  /** The last row that was examined. It is in the message, unless the filter excludes it. */
  readonly upTo: number;
  /** False if there may be more changes to send now. */
  readonly isAtEnd: boolean;
}

export interface ScanParts {
  readonly tail: Pick<LedgerTail, "rowsAfter" | "positionAt">;
  readonly pace: Pace;
  readonly monotonicMs: () => number;
  readonly signal: AbortSignal;
}

/** After this many rows, a message is sent even if it is not full. */
const rowsExaminedMax = 10_000;

/**
 * Reads the ledger from a row on until a message is full, the ledger ends, or many rows were
 * examined. Examines one page of rows per turn of the pace.
 */
export async function scanLedger(
  { tail, pace, monotonicMs, signal }: ScanParts,
  webhook: Webhook,
  matches: (row: NamedRow) => boolean,
  after: number,
): Promise<Scan> {
  const batch = createBatch();
  let upTo = after;
  let isAtEnd = false;
  let isFull = false;
  while (!isAtEnd && !isFull && upTo - after < rowsExaminedMax && !signal.aborted) {
    await pace.turn();
    const rows = await tail.rowsAfter(upTo);
    const startedAt = monotonicMs();
    isAtEnd = rows.length === 0;
    for (const row of rows) {
      isFull = matches(row) && !batch.add(row);
      if (isFull) break;
      upTo = row.seq;
    }
    pace.spend(monotonicMs() - startedAt);
  }
  const message = batch.isEmpty ? undefined : batch.toMessage(webhook, tail.positionAt);
  return { message, upTo, isAtEnd };
}
