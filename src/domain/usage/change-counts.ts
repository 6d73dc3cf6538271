import type { LedgerParts } from "../ledger/store.ts";
import { minuteMs } from "../values/times.ts";

export type ChangeCounts = ReturnType<typeof createChangeCounts>;

export const minutesCounted = 60;

/** A row may be stored this long after the time that it has. */
const settledMs = 2 * minuteMs;

/**
 * Counts the rows that were added to the ledger in each of the last minutes. Costs two reads in most cases.
 * The `seq` at the start of a minute that is long over does not change any more, except in another epoch,
 * so it is read once.
 */
export function createChangeCounts({
  history,
  inventory,
}: Pick<LedgerParts, "history" | "inventory">) {
  let epoch = "";
  let settled = new Map<number, number>();

  async function seqBefore(time: number, now: number): Promise<number> {
    const known = settled.get(time);
    if (known !== undefined) return known;
    const seq = await history.seqAt(time - 1);
    if (time < now - settledMs) settled.set(time, seq);
    return seq;
  }

  return {
    /** The oldest minute first. The last one is the current minute, which is not over. */
    async perMinute(): Promise<readonly number[]> {
      const head = await inventory.readHead();
      const now = await inventory.readClock();
      if (head.epoch !== epoch) settled = new Map();
      epoch = head.epoch;
      const current = now - (now % minuteMs);
      const starts = Array.from(
        { length: minutesCounted },
        (_, at) => current - (minutesCounted - 1 - at) * minuteMs,
      );
      for (const time of settled.keys()) if (time < starts[0]!) settled.delete(time);
      const seqs = await Promise.all(starts.map((start) => seqBefore(start, now)));
      return seqs.map((seq, at) => Math.max(0, (seqs[at + 1] ?? head.seq) - seq));
    },
  };
}
