import { invalidRequest, ServiceError } from "../running/errors.ts";
import { parseInstant } from "../values/times.ts";
import { epochOf, type Position } from "./epochs.ts";
import type { LedgerParts } from "./store.ts";

/** A moment in the history of a store, as it was written: a ledger row, or a time. */
export type Moment =
  | { readonly text: string; readonly seq: number }
  | { readonly text: string; readonly time: number };

/** A moment as the last ledger row at or before it. */
export interface ResolvedMoment extends Position {
  /** Identifies the ledger up to this row: the epoch in which the row was written, and its `seq`. */
  readonly tag: string;
}

export const momentRule =
  "must be the number of a ledger row, or a date or time in ISO 8601 such as 2026-11-15T10:00:00Z";

const canonicalSeq = /^(?:0|[1-9][0-9]{0,15})$/;

/** Parses a ledger row or a time. Returns undefined for anything else. */
export function parseMoment(text: string): Moment | undefined {
  if (canonicalSeq.test(text)) {
    const seq = Number(text);
    return Number.isSafeInteger(seq) ? { text, seq } : undefined;
  }
  const time = parseInstant(text);
  return time === undefined ? undefined : { text, time };
}

/**
 * Finds the row of each moment. Throws `not_found` for a row that the ledger does not have yet, and
 * `invalid_request` for a time in the future. The positions are in one epoch.
 */
export async function resolveMoments(
  store: Pick<LedgerParts, "inventory" | "history">,
  moments: readonly Moment[],
): Promise<ResolvedMoment[]> {
  const { epoch, seq: last } = await store.inventory.readHead();
  const history = await store.inventory.listEpochs();
  const resolved: ResolvedMoment[] = [];
  for (const moment of moments) {
    const seq = await seqOf(store, moment, last);
    const writtenIn = epochOf(history, seq);
    // No row is the same in every store.
    resolved.push({ epoch, seq, tag: writtenIn === undefined ? `${seq}` : `${writtenIn}-${seq}` });
  }
  return resolved;
}

async function seqOf(
  { inventory, history }: Pick<LedgerParts, "inventory" | "history">,
  moment: Moment,
  last: number,
): Promise<number> {
  if ("seq" in moment) {
    if (moment.seq > last) throw new ServiceError("not_found", rowNotFound(moment.seq, last));
    return moment.seq;
  }
  // The time of the last row may be ahead of the clock: rows never go back in time.
  const isPast = moment.time <= (await inventory.readClock());
  if (!isPast && moment.time > (await history.readTip()).at) {
    throw invalidRequest(inFuture(moment.text));
  }
  return history.seqAt(moment.time);
}

export function rowNotFound(seq: number, last: number): string {
  return `The ledger has no row ${seq}. Its last row is ${last}.`;
}

export function inFuture(text: string): string {
  return `The time ${text} is in the future.`;
}
