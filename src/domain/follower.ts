import type { Entry, Stock } from "./inventory.ts";
import type { Outcome, StockRow } from "./ledger.ts";
import type { Head, Reader, Soon } from "./ports.ts";

/** A copy of the inventory that can be brought forward row by row. */
export interface Replica {
  /** Starts over, empty. */
  clear(): void;
  /** Adds entries with larger ids than any before. */
  load(entries: readonly Entry[]): void;
  /** The pet's stock is now this; null: it is gone. */
  apply(petId: bigint, after: Stock | null): void;
}

export interface Follower {
  /**
   * Brings the replica to a head that was looked up after this call began, or to the one given,
   * which the caller looked up for this very request. Returns at once when there is nothing to do.
   */
  catchUp(head?: Head): Soon<void>;
  /** Hands over what this process committed, which saves reading it back. */
  committed(outcomes: readonly Outcome[]): void;
  /** What the replica shows: meaningful right after `catchUp`. */
  readonly epoch: string;
  readonly seq: number;
}

/** Rows or entries taken between two turns of the event loop, so that others get theirs. */
const sliceRows = 10_000;

/** How long a replica that nobody reads may stay behind after a commit of its own process. */
const behindMs = 100;

/**
 * Keeps a replica in step with the ledger. A read first learns the store's head and applies what
 * is newer, so no read is stale. A head of another epoch, or one that went back behind what the
 * replica already showed when the look began, means the store was replaced: load afresh.
 */
export function createFollower(reader: Reader, replica: Replica): Follower {
  const rowsAfter = reader.stockAfter ?? reader.ledgerAfter;
  let epoch = "";
  let seq = 0;
  /** Counts full loads, so that many readers who saw one replaced store load it once. */
  let loads = 0;
  let walking: Promise<void> = Promise.resolve();
  let reading = false;
  let looking: Promise<void> = Promise.resolve();
  let isBehind = false;
  /** The look that has not started yet: readers arriving now may share it, and no other. */
  let nextLook: Promise<void> | undefined;

  /** Walks to the head, one walk at a time. `replaced` tells which load was found outdated. */
  function reach(head: Head, replaced: number | undefined): Soon<void> {
    if (isCurrent(head) && replaced === undefined) return;
    walking = walking.catch(() => {}).then(() => advance(head, replaced));
    return walking;
  }

  function isCurrent(head: Head): boolean {
    return head.epoch === epoch && head.seq <= seq;
  }

  async function advance(head: Head, replaced: number | undefined): Promise<void> {
    reading = true;
    try {
      if (head.epoch !== epoch || replaced === loads) await loadAfresh();
      while (head.epoch === epoch && seq < head.seq) {
        const rows = await rowsAfter(seq, sliceRows);
        // Rows that the head told of are not there: the store was replaced since.
        if (rows.length === 0 || reader.isOutdated?.(epoch)) return await loadAfresh();
        applyRows(rows);
        await breathe();
      }
    } finally {
      reading = false;
    }
  }

  /**
   * Entries are read page by page while writes go on, so pages may be of different moments. Rows
   * hold absolute values: replaying the ledger from where it stood before the first page ends in
   * the right state whatever the pages had already seen.
   */
  async function loadAfresh(): Promise<void> {
    const start = await reader.look();
    loads += 1;
    epoch = "";
    replica.clear();
    let after: bigint | null = null;
    for (;;) {
      const entries = await reader.entriesAfter(after, sliceRows);
      replica.load(entries);
      if (entries.length < sliceRows) break;
      after = entries.at(-1)!.petId;
      await breathe();
    }
    const end = await reader.look();
    // Replaced while it was read: what was read may be of two stores.
    if (end.epoch !== start.epoch) return await loadAfresh();
    epoch = start.epoch;
    seq = start.seq;
    while (seq < end.seq) {
      const rows = await rowsAfter(seq, sliceRows);
      if (reader.isOutdated?.(epoch)) return await loadAfresh();
      if (rows.length === 0) break;
      applyRows(rows);
    }
  }

  function applyRows(rows: readonly StockRow[]): void {
    for (const row of rows) {
      if (row.seq !== seq + 1) continue;
      replica.apply(row.petId, row.after);
      seq = row.seq;
    }
  }

  async function lookAndReach(before: Promise<void>): Promise<void> {
    await before.catch(() => {});
    nextLook = undefined;
    const shown = { epoch, seq, loads };
    looking = Promise.resolve(reader.look()).then((head) => {
      const wentBack = head.epoch === shown.epoch && head.seq < shown.seq;
      return reach(head, wentBack ? shown.loads : undefined);
    });
    await looking;
  }

  /**
   * Where others write too, nearly every group of our own finds a gap. Following each of theirs at
   * once would cost as much as writing; readers catch up by themselves, and this only keeps the
   * way short that the next one has to go.
   */
  function catchUpSoon(): void {
    if (isBehind) return;
    isBehind = true;
    setTimeout(() => {
      isBehind = false;
      nextLook ??= lookAndReach(looking);
      nextLook.catch(() => {});
    }, behindMs).unref();
  }

  return {
    catchUp(head) {
      if (head) return reach(head, head.epoch === epoch && head.seq < seq ? loads : undefined);
      nextLook ??= lookAndReach(looking);
      return nextLook;
    },
    committed(outcomes) {
      const entries = outcomes.filter((outcome) => outcome !== "not_found");
      if (entries.length === 0) return;
      // While slices are being read the walk itself will meet these rows. A gap means that another
      // process wrote in between.
      if (reading || entries[0]!.version !== seq + 1 || reader.isOutdated?.(epoch)) {
        catchUpSoon();
        return;
      }
      for (const entry of entries) replica.apply(entry.petId, entry);
      seq += entries.length;
    },
    get epoch() {
      return epoch;
    },
    get seq() {
      return seq;
    },
  };
}

function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
