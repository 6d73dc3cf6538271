import type { Position } from "./epochs.ts";
import type { StockRow } from "./ledger.ts";
import type { Head, InventoryReader } from "./ports.ts";
import type { Replica } from "./replica.ts";
import { yieldToEventLoop } from "./turns.ts";

/** Applies the ledger to a replica. One call at a time. */
export interface Replay {
  /** Where the replica is. */
  readonly applied: Position;
  /** Counts full loads, so that many readers who saw one replaced store load it once. */
  readonly loads: number;
  /**
   * Brings the replica to this head. `replaced` is the load that turned out to be of a store that
   * is gone. Throws a LedgerGap, and the replica is nowhere, if a row is missing.
   */
  advance(head: Head, replaced: number | undefined): Promise<void>;
  /** Applies commits that follow directly; false, and nothing happens, if they do not. */
  append(rows: readonly StockRow[]): boolean;
}

export const nowhere: Position = { epoch: "", seq: 0 };

/** The head tells of a row that the ledger does not have. Only an operator can repair that. */
export class LedgerGap extends Error {
  readonly row: number;
  readonly epoch: string;

  constructor(row: number, { epoch, seq }: Position) {
    super(`the ledger has no row ${row}, but its head is ${seq}; run petstore verify`);
    this.row = row;
    this.epoch = epoch;
  }
}

/** What is read and applied in one turn of the event loop: about five milliseconds of work. */
const sliceEntries = 4_096;
const sliceRows = 2_048;

export function createReplay(reader: InventoryReader, replica: Replica): Replay {
  let applied = nowhere;
  let loads = 0;
  let gap: LedgerGap | undefined;

  async function advance(head: Head, replaced: number | undefined): Promise<void> {
    if (gap) await assertClosed(gap, head);
    if (head.epoch !== applied.epoch || replaced === loads || isFarBehind(head)) await loadAfresh();
    while (head.epoch === applied.epoch && applied.seq < head.seq) {
      const next = applied.seq + 1;
      if (!(await applySlice())) return await reloadWithout(next, head);
      if (applied.seq < head.seq) await yieldToEventLoop();
    }
  }

  /** Loading an entry costs less than replaying a row, and does not depend on the rows' order. */
  function isFarBehind(head: Head): boolean {
    return head.seq - applied.seq > Math.max(sliceRows, replica.size / 4);
  }

  /** Rows that the head told of are not there: the store was replaced since, or it is damaged. */
  async function reloadWithout(row: number, head: Head): Promise<void> {
    await loadAfresh();
    if (applied.epoch === head.epoch && applied.seq >= row) await assertRow(row, applied);
  }

  /**
   * Entries are read page by page while writes go on, so pages may be of different moments. Rows
   * hold absolute values: replaying the ledger from where it stood before the first page ends in
   * the right state whatever the pages had already seen.
   */
  async function loadAfresh(): Promise<void> {
    const start = await reader.readHead();
    loads += 1;
    applied = nowhere;
    if (start.seq > 0) await assertRow(start.seq, start);
    replica.clear();
    let after: bigint | null = null;
    for (;;) {
      const entries = await reader.entriesAfter(after, sliceEntries);
      replica.load(entries);
      if (entries.length < sliceEntries) break;
      after = entries.at(-1)!.petId;
      await yieldToEventLoop();
    }
    const end = await reader.readHead();
    // Replaced while it was read: what was read may be of two stores.
    if (end.epoch !== start.epoch) return await loadAfresh();
    applied = { epoch: start.epoch, seq: start.seq };
    while (applied.seq < end.seq) {
      if (!(await applySlice())) {
        if (isOutdated(applied)) return await loadAfresh();
        throw new LedgerGap(applied.seq + 1, end);
      }
      await yieldToEventLoop();
    }
  }

  /** Rows that were just read may be of the epoch that follows this one. */
  function isOutdated({ epoch }: Position): boolean {
    return reader.isOutdated(epoch);
  }

  /** Applies the rows that come next; false if there is none of this epoch. */
  async function applySlice(): Promise<boolean> {
    let { epoch, seq } = applied;
    const rows = await reader.stockAfter(seq, sliceRows);
    if (isOutdated(applied)) return false;
    for (const row of rows) {
      if (row.seq !== seq + 1) break;
      replica.apply(row.petId, row.after);
      seq = row.seq;
    }
    const moved = seq > applied.seq;
    if (moved) applied = { epoch, seq };
    if (replica.isFull) await replica.write();
    return moved;
  }

  async function assertRow(row: number, head: Position): Promise<void> {
    const [found] = await reader.stockAfter(row - 1, 1);
    if (found?.seq !== row && !isOutdated(head)) throw new LedgerGap(row, head);
  }

  /** Looks only for the row that was missing, because a full load at every read would be a load. */
  async function assertClosed({ epoch, row }: LedgerGap, head: Head): Promise<void> {
    if (head.epoch === epoch && head.seq >= row) await assertRow(row, head);
  }

  return {
    async advance(head, replaced) {
      try {
        await advance(head, replaced);
        gap = undefined;
      } catch (error) {
        if (error instanceof LedgerGap) {
          gap = error;
          applied = nowhere;
        }
        throw error;
      }
    },
    append(rows) {
      const follows = applied !== nowhere && rows[0]!.seq === applied.seq + 1;
      if (!follows || isOutdated(applied)) return false;
      for (const { petId, after } of rows) replica.apply(petId, after);
      applied = { epoch: applied.epoch, seq: applied.seq + rows.length };
      return true;
    },
    get applied() {
      return applied;
    },
    get loads() {
      return loads;
    },
  };
}
