import type { Position } from "../ledger/epochs.ts";
import type { StockRow } from "../ledger/ledger.ts";
import type { Head, InventoryReader } from "../ledger/store.ts";
import { andThen, type MaybePromise } from "../running/clock.ts";
import { type ServiceError, unavailable } from "../running/errors.ts";
import type { Log } from "../running/events.ts";
import { createReplay, LedgerGap, nowhere, type Replay, type Replica } from "./replay.ts";

export type Follower = ReturnType<typeof createFollower>;

/** How long the replica may stay behind when no request reads it. */
const behindMs = 100;

/**
 * Keeps a replica up to date with the ledger. A request reads the store's head first and applies
 * the rows that are newer, so no response is stale. The store was replaced, and the replica loads
 * it again, if the head has another epoch or is behind what the replica had when the read began.
 *
 * Rows are applied in slices, and only the state after the last slice is shown. A request never
 * sees half of a commit, however many rows it has.
 */
export function createFollower(reader: InventoryReader, replica: Replica, log: Log) {
  const replay = createReplay(reader, replica);
  let shown = nowhere;
  /** Replays and long publications run one after the other. */
  const queue = createQueue();
  /** True from the start of a replay until one succeeds: what was applied may be half a commit. */
  let isReplaying = false;
  let fault: string | undefined;
  const readAndReach = createLook(reader, replay, reach, true);
  const reloadIfReplaced = createLook(reader, replay, reach, false);
  /** What was announced may be in the replica without being shown. A store that went back is not. */
  const catchUpSoon = soon(behindMs, (announced) => {
    const isApplied = covers(replay.applied, announced);
    return (isApplied ? reloadIfReplaced() : readAndReach()).catch(() => {});
  });

  /** Shows the head. `replaced` is the number of the load whose store was replaced. */
  function reach(head: Head, replaced: number | undefined): MaybePromise<void> {
    if (replaced === undefined) {
      if (covers(shown, head)) return;
      if (queue.length === 0 && !isReplaying && covers(replay.applied, head)) return showNow();
    }
    return queue.add(() => advance(head, replaced));
  }

  /** Shows what was applied, without a wait if that is little. Only when nothing is queued. */
  function showNow(): MaybePromise<void> {
    const showing = show();
    return showing && queue.add(() => showing);
  }

  function show(): MaybePromise<void> {
    const position = replay.applied;
    return andThen(replica.publish(position), () => {
      shown = position;
    });
  }

  async function advance(head: Head, replaced: number | undefined): Promise<void> {
    if (replaced === undefined && covers(shown, head)) return;
    isReplaying = true;
    const { applied, loads } = replay;
    try {
      await replay.advance(head, replaced);
    } catch (error) {
      throw error instanceof LedgerGap ? damaged(error.message) : error;
    }
    isReplaying = false;
    if (fault !== undefined) log("ledger repaired");
    else if (loads > 0 && replay.loads > loads) {
      const isSame = applied.epoch === head.epoch && replaced === undefined;
      log("list reloaded", { why: isSame ? "many changes" : "another history", seq: head.seq });
    }
    fault = undefined;
    await show();
  }

  /** Nothing is shown until the gap is closed. Logged once, however many requests fail. */
  function damaged(found: string): ServiceError {
    if (found !== fault) log("ledger damaged", { error: found });
    fault = found;
    shown = nowhere;
    return unavailable("damaged", found);
  }

  return {
    /**
     * Makes the replica show a head that was read after this call began, or the given one, which the
     * caller has read for this request. Returns without a promise when there is little to do.
     */
    catchUp(head?: Head): MaybePromise<void> {
      // The caller may have waited since it read this head. A new read shows whether the store
      // went back or this process committed in the meantime.
      if (!head || wentBack(head, replay.applied)) return readAndReach();
      return reach(head, undefined);
    },
    /** Catches up in the background if the replica is behind this head. */
    headMoved(head: Head): void {
      if (!covers(replay.applied, head)) catchUpSoon(head);
    },
    /** Applies rows that this process committed, which saves reading them from the store. */
    committed(rows: readonly StockRow[], epoch: string): void {
      // A running replay reads these rows anyway. Rows that do not follow directly mean that
      // another process wrote in between, that a read found them first, or that the store went back.
      if (isReplaying || !replay.append(rows, epoch)) {
        catchUpSoon({ epoch, seq: rows.at(-1)!.seq });
      }
      // Without requests that read the list, changes would otherwise accumulate.
      else if (replica.isFull && queue.length === 0) queue.add(show).catch(() => {});
    },
    /** Describes the damage to the ledger, for the operator. */
    get fault() {
      return fault;
    },
    /** The last row that the replica contains. It is shown at the latest when it is read. */
    get applied() {
      return replay.applied;
    },
    /** How often the whole store was loaded. */
    get loads() {
      return replay.loads;
    },
  };
}

function covers(position: Position, head: Position): boolean {
  return position.epoch === head.epoch && position.seq >= head.seq;
}

function wentBack(head: Position, applied: Position): boolean {
  return head.epoch === applied.epoch && head.seq < applied.seq;
}

/** Runs tasks one after the other. */
function createQueue() {
  let last: Promise<void> = Promise.resolve();
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(work: () => MaybePromise<void>): Promise<void> {
      length += 1;
      const done = last.then(work).finally(() => {
        length -= 1;
      });
      last = done.catch(() => {});
      return done;
    },
  };
}

/** Runs a read for its callers, one at a time. Callers that arrive before a read begins share it. */
function shared(read: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  async function readAfter(before: Promise<void>): Promise<void> {
    await before.catch(() => {});
    next = undefined;
    last = read();
    await last;
  }
  return () => {
    next ??= readAfter(last);
    return next;
  };
}

/** Reads the head and reaches it. Unless `isShown`, only if the store went back. */
function createLook(
  reader: InventoryReader,
  replay: Replay,
  reach: (head: Head, replaced: number | undefined) => MaybePromise<void>,
  isShown: boolean,
): () => Promise<void> {
  return shared(async () => {
    const { applied, loads } = replay;
    const head = await reader.readHead();
    if (wentBack(head, applied)) await reach(head, loads);
    else if (isShown) await reach(head, undefined);
  });
}

/**
 * Does work once after a short delay, for the last of the positions that it is called with meanwhile. If
 * several instances write, nearly every commit finds rows of others before its own, and to follow each of
 * them at once would cost as much as writing. Reads catch up anyway; this only limits how much the next
 * read has to apply.
 */
function soon(delayMs: number, work: (announced: Position) => unknown): (at: Position) => void {
  let announced: Position | undefined;
  return (position) => {
    if (announced) {
      if (!covers(announced, position)) announced = position;
      return;
    }
    announced = position;
    setTimeout(() => {
      const last = announced!;
      announced = undefined;
      work(last);
    }, delayMs).unref();
  };
}
