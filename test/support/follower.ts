import { createFollower } from "../../src/domain/inventory/follower.ts";
import type { Replica } from "../../src/domain/inventory/replay.ts";
import type { Position } from "../../src/domain/ledger/epochs.ts";
import type { Entry, Stock } from "../../src/domain/ledger/inventory.ts";
import type { LedgerRow } from "../../src/domain/ledger/ledger.ts";
import type { Head, InventoryReader } from "../../src/domain/ledger/store.ts";

/** A ledger in memory. Its reads of the head can be delayed, to end them in any order. */
export function createLedger() {
  let epoch = "first";
  let rows: LedgerRow[] = [];
  const reads: (() => void)[] = [];
  let held = false;
  let loads = 0;
  let rowsRead = 0;
  let missing = 0;
  const replayed = () => {
    const entries = new Map<bigint, Entry>();
    for (const row of rows) {
      if (row.after) entries.set(row.petId, { petId: row.petId, version: row.seq, ...row.after });
    }
    return [...entries.values()].sort((a, b) => (a.petId < b.petId ? -1 : 1));
  };
  const head = (): Head => ({ epoch, seq: rows.length + missing, keysVersion: 0 });
  const reader = {
    async readHead() {
      // The head is that of the start of the read, as on a server.
      const seen = head();
      if (held) await new Promise<void>((resolve) => reads.push(resolve));
      return seen;
    },
    isOutdated: () => false,
    async stockAfter(seq: number, rowsMax: number) {
      rowsRead += rowsMax;
      return rows.filter((row) => row.seq > seq).slice(0, rowsMax);
    },
    async entriesAfter(petId: bigint | null, rowsMax: number) {
      loads += petId === null ? 1 : 0;
      return replayed()
        .filter((entry) => petId === null || entry.petId > petId)
        .slice(0, rowsMax);
    },
  } as unknown as InventoryReader;
  return {
    reader,
    get loads() {
      return loads;
    },
    get rowsRead() {
      return rowsRead;
    },
    get waitingReads() {
      return reads.length;
    },
    head,
    add(petId: bigint, quantity: number): LedgerRow {
      const after: Stock = { quantity, status: "available" };
      const seq = rows.length + missing + 1;
      const row = { seq, petId, after } as LedgerRow;
      rows.push(row);
      return row;
    },
    /** Skips a number, as if a row were lost. */
    skipRow() {
      missing += 1;
    },
    /** Adds the missing rows. */
    fillGaps() {
      const present = new Set(rows.map(({ seq }) => seq));
      const { seq: last } = head();
      for (let seq = 1; seq <= last; seq++) {
        if (present.has(seq)) continue;
        rows.push({ seq, petId: 99n, after: { quantity: seq, status: "sold" } } as LedgerRow);
      }
      rows.sort((a, b) => a.seq - b.seq);
      missing = 0;
    },
    replace(newEpoch: string, kept: number) {
      epoch = newEpoch;
      rows = rows.slice(0, kept);
    },
    hold() {
      held = true;
    },
    endRead() {
      reads.shift()?.();
    },
  };
}

/** Shows only what was published, as the list does. */
export function createReplica(size = 1_000_000) {
  const applied = new Map<bigint, number>();
  const shown = { at: { epoch: "", seq: 0 } as Position, stocks: new Map<bigint, number>() };
  const replica: Replica = {
    clear: () => applied.clear(),
    load: (entries) => {
      for (const entry of entries) applied.set(entry.petId, entry.quantity);
    },
    apply: (petId, after) => {
      if (after) applied.set(petId, after.quantity);
      else applied.delete(petId);
    },
    size,
    isFull: false,
    write: () => undefined,
    publish: (position) => {
      shown.at = position;
      shown.stocks = new Map(applied);
    },
  };
  return { replica, shown };
}

export function startFollowing(change: Partial<InventoryReader> = {}, size?: number) {
  const ledger = createLedger();
  const { replica, shown } = createReplica(size);
  const logged: string[] = [];
  const log = (event: string) => void logged.push(event);
  const follower = createFollower({ ...ledger.reader, ...change }, replica, log);
  return { ledger, shown, logged, follower };
}
