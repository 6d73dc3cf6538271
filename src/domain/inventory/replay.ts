import type { Position } from "../ledger/epochs.ts";
import type { Entry, Stock } from "../ledger/inventory.ts";
import type { StockRow } from "../ledger/ledger.ts";
import type { Head, InventoryReader } from "../ledger/store.ts";
import { yieldToEventLoop } from "../running/background.ts";
import type { MaybePromise } from "../running/clock.ts";

/** A copy of the inventory that is updated row by row and published at certain positions. */
export interface Replica {
  /** Removes all entries. The last publication stays visible until the next one. */
  clear(): void;
  /** Adds entries. Their ids are larger than all that were loaded before. */
  load(entries: readonly Entry[]): void;
  /** Sets a pet's stock; null removes the entry. */
  apply(petId: bigint, after: Stock | null): void;
  /** The approximate number of entries. Pending changes need not be counted. */
  readonly size: number;
  /** True when many changes are pending. Call `write` before applying more. */
  readonly isFull: boolean;
  /** Writes pending changes, in slices, without publishing them. */
  write(): MaybePromise<void>;
  /**
   * Publishes everything applied before this call as the state at `position`. Works in slices when
   * there is much to write. Changes applied in the meantime are part of the next publication.
   */
  publish(position: Position): MaybePromise<void>;
}

export type Replay = ReturnType<typeof createReplay>;

/** The position of a replica that has not been loaded. */
export const nowhere: Position = { epoch: "", seq: 0 };

/** The ledger lacks a row that the head includes. Only an operator can repair that. */
export class LedgerGap extends Error {
  readonly row: number;
  readonly epoch: string;

  constructor(row: number, { epoch, seq }: Position) {
    super(`the ledger has no row ${row}, but its head is ${seq}; run petstore verify`);
    this.row = row;
    this.epoch = epoch;
  }
}

/** How much is read and applied in one turn of the event loop: about five milliseconds of work. */
const sliceEntries = 4_096;
const sliceRows = 2_048;

/** Applies the ledger to a replica. Only one call may run at a time. */
export function createReplay(reader: InventoryReader, replica: Replica) {
  let applied = nowhere;
  let loads = 0;
  let gap: LedgerGap | undefined;

  async function advance(head: Head, replaced: number | undefined): Promise<void> {
    if (gap) await assertClosed(gap, head);
    if (head.epoch !== applied.epoch || replaced === loads || isFarBehind(head)) await load();
    while (head.epoch === applied.epoch && applied.seq < head.seq) {
      const next = applied.seq + 1;
      if (!(await applySlice())) return await reloadWithout(next, head);
      if (applied.seq < head.seq) await yieldToEventLoop();
    }
  }

  /** Loading an entry costs less than applying a row, so a long replay is replaced by a load. */
  function isFarBehind(head: Head): boolean {
    return head.seq - applied.seq > Math.max(sliceRows, replica.size / 4);
  }

  /** Rows up to the head are missing: the store was replaced since, or it is damaged. */
  async function reloadWithout(row: number, head: Head): Promise<void> {
    await load();
    if (applied.epoch === head.epoch && applied.seq >= row) await assertRow(reader, row, applied);
  }

  /**
   * Loads every entry. Writes continue while pages are read, so pages may show different states.
   * Rows contain absolute values: applying the ledger from where it ended before the first page
   * gives the correct result, whatever the pages already contained.
   */
  async function load(): Promise<void> {
    const start = await reader.readHead();
    loads += 1;
    applied = nowhere;
    if (start.seq > 0) await assertRow(reader, start.seq, start);
    await loadEntries(reader, replica);
    const end = await reader.readHead();
    // The store was replaced in the meantime, so the pages may be of two stores.
    if (end.epoch !== start.epoch) return await load();
    applied = { epoch: start.epoch, seq: start.seq };
    while (applied.seq < end.seq) {
      if (!(await applySlice())) {
        if (reader.isOutdated(applied.epoch)) return await load();
        throw new LedgerGap(applied.seq + 1, end);
      }
      await yieldToEventLoop();
    }
  }

  /** Applies the next rows. Returns false if there is none in this epoch. */
  async function applySlice(): Promise<boolean> {
    let { epoch, seq } = applied;
    const rows = await reader.stockAfter(seq, sliceRows);
    if (reader.isOutdated(applied.epoch)) return false;
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

  /** Checks only the row that was missing, because a full load at every request would be costly. */
  async function assertClosed({ epoch, row }: LedgerGap, head: Head): Promise<void> {
    if (head.epoch === epoch && head.seq >= row) await assertRow(reader, row, head);
  }

  return {
    /**
     * Brings the replica to this head. `replaced` is the number of the load whose store was replaced.
     * If a row is missing, throws a LedgerGap, and the next call loads everything again.
     */
    async advance(head: Head, replaced: number | undefined): Promise<void> {
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
    /** Applies rows if they follow directly. Otherwise returns false and changes nothing. */
    append(rows: readonly StockRow[], epoch: string): boolean {
      const follows = applied.epoch === epoch && rows[0]!.seq === applied.seq + 1;
      if (!follows || reader.isOutdated(applied.epoch)) return false;
      for (const { petId, after } of rows) replica.apply(petId, after);
      applied = { epoch, seq: applied.seq + rows.length };
      return true;
    },
    /** The last row that the replica contains. */
    get applied() {
      return applied;
    },
    /** Counts full loads, so that requests that notice the same replacement load it once. */
    get loads() {
      return loads;
    },
  };
}

async function loadEntries(reader: InventoryReader, replica: Replica): Promise<void> {
  replica.clear();
  let after: bigint | null = null;
  for (;;) {
    const entries = await reader.entriesAfter(after, sliceEntries);
    replica.load(entries);
    if (entries.length < sliceEntries) return;
    after = entries.at(-1)!.petId;
    await yieldToEventLoop();
  }
}

/** Throws if the ledger lacks a row. Rows that may belong to the next epoch do not count. */
async function assertRow(reader: InventoryReader, row: number, head: Position): Promise<void> {
  const [found] = await reader.stockAfter(row - 1, 1);
  if (found?.seq !== row && !reader.isOutdated(head.epoch)) throw new LedgerGap(row, head);
}
