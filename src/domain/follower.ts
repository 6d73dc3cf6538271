import type { Position } from "./epochs.ts";
import { type Refusal, unavailable } from "./errors.ts";
import type { LedgerRow } from "./ledger.ts";
import type { Head, InventoryReader, Log, MaybePromise } from "./ports.ts";
import { createReplay, LedgerGap, nowhere } from "./replay.ts";
import type { Replica } from "./replica.ts";

export interface Follower {
  /**
   * Makes the replica show a head that was looked up after this call began, or the one given,
   * which the caller looked up for this very request. Returns at once when there is little to do.
   */
  catchUp(head?: Head): MaybePromise<void>;
  /** Applies rows that this process committed, which saves reading them back. */
  committed(rows: readonly LedgerRow[]): void;
  /** Catches up in the background if the replica is behind this head. */
  headMoved(head: Head): void;
  /** What is wrong with the ledger, in words for the operator. */
  readonly fault: string | undefined;
}

/** How long a replica that nobody reads may stay behind after a commit of its own process. */
const behindMs = 100;

/**
 * Keeps a replica in step with the ledger. A read first learns the store's head and applies what
 * is newer, so no read is stale. A head of another epoch, or one that went back behind what the
 * replica already had when the look began, means the store was replaced: load afresh.
 *
 * Rows are applied in slices, and only the state at the end of a walk is shown. A read never sees
 * half of a commit, however many rows it has.
 */
export function createFollower(reader: InventoryReader, replica: Replica, log: Log): Follower {
  const replay = createReplay(reader, replica);
  let shown = nowhere;
  /** Walks and long publications take turns: when the last one ends, and how many there are. */
  let queue: Promise<void> = Promise.resolve();
  let queued = 0;
  /** From the start of a walk until one has arrived: what was applied may be half of a commit. */
  let isBetween = false;
  let fault: string | undefined;
  let looking: Promise<void> = Promise.resolve();
  let isBehind = false;
  /** The look that has not started yet: readers arriving now may share it, and no other. */
  let nextLook: Promise<void> | undefined;

  /** Shows the head. `replaced` is the load that was found to be of a store that is gone. */
  function reach(head: Head, replaced: number | undefined): MaybePromise<void> {
    if (replaced === undefined) {
      if (covers(shown, head)) return;
      if (queued === 0 && !isBetween && covers(replay.applied, head)) return showInTurn();
    }
    return enqueue(() => advance(head, replaced));
  }

  function enqueue(work: () => MaybePromise<void>): Promise<void> {
    queued += 1;
    const done = queue.then(work).finally(() => {
      queued -= 1;
    });
    queue = done.catch(() => {});
    return done;
  }

  /** Shows what was applied, at once if that is little. For when nothing is queued. */
  function showInTurn(): MaybePromise<void> {
    const showing = show();
    return showing && enqueue(() => showing);
  }

  function show(): MaybePromise<void> {
    const position = replay.applied;
    const showing = replica.publish(position);
    if (!showing) {
      shown = position;
      return;
    }
    return showing.then(() => {
      shown = position;
    });
  }

  async function advance(head: Head, replaced: number | undefined): Promise<void> {
    if (replaced === undefined && covers(shown, head)) return;
    isBetween = true;
    try {
      await replay.advance(head, replaced);
    } catch (error) {
      throw error instanceof LedgerGap ? damaged(error.message) : error;
    }
    isBetween = false;
    if (fault !== undefined) log("ledger repaired");
    fault = undefined;
    await show();
  }

  /** Nothing is shown until the gap is closed; the log says so once, however many reads come. */
  function damaged(found: string): Refusal {
    if (found !== fault) log("ledger damaged", { error: found });
    fault = found;
    shown = nowhere;
    return unavailable("damaged");
  }

  async function lookAndReach(before: Promise<void>): Promise<void> {
    await before.catch(() => {});
    nextLook = undefined;
    const { applied, loads } = replay;
    looking = Promise.resolve(reader.readHead()).then((head) =>
      reach(head, wentBack(head, applied) ? loads : undefined),
    );
    await looking;
  }

  function lookSoon(): Promise<void> {
    nextLook ??= lookAndReach(looking);
    return nextLook;
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
      lookSoon().catch(() => {});
    }, behindMs).unref();
  }

  return {
    catchUp(head) {
      if (!head) return lookSoon();
      return reach(head, wentBack(head, replay.applied) ? replay.loads : undefined);
    },
    headMoved(head) {
      if (!covers(replay.applied, head)) catchUpSoon();
    },
    committed(rows) {
      // A walk under way meets these rows by itself. Commits that do not follow directly mean that
      // another process wrote in between.
      if (isBetween || !replay.append(rows)) catchUpSoon();
      // Nobody reads, so nobody has the changes written: they must not pile up.
      else if (replica.isFull && queued === 0) enqueue(show).catch(() => {});
    },
    get fault() {
      return fault;
    },
  };
}

function covers(position: Position, head: Position): boolean {
  return position.epoch === head.epoch && position.seq >= head.seq;
}

function wentBack(head: Position, applied: Position): boolean {
  return head.epoch === applied.epoch && head.seq < applied.seq;
}
