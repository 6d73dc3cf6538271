import type { Committed, LedgerRow, Outcome, Unit } from "../ledger/ledger.ts";
import type { InventoryStore } from "../ledger/store.ts";
import { yieldToEventLoop } from "../running/background.ts";
import type { Trace } from "../running/clock.ts";
import { ServiceError, type UnavailableReason, unavailable } from "../running/errors.ts";
import { createSlowness, slowCommitMs } from "../running/slowness.ts";
import { createGrouping, type GroupingBounds } from "./grouping.ts";
import {
  changesOf,
  createOwnCounts,
  createUnitQueue,
  isWithinShare,
  keyOf,
  sizeOf,
} from "./unit-queue.ts";

export interface CommitBounds {
  /** Changes in one transaction. A larger unit gets its own transaction. */
  readonly groupMax: number;
  /**
   * Changes that wait for a transaction. A unit that would exceed this is rejected. One key
   * may have at most as many as are still free.
   */
  readonly queueMax: number;
  /** The longest time that a caller waits for the outcome of a unit. */
  readonly timeoutMs: number;
  readonly grouping: GroupingBounds;
}

export interface Committer {
  /**
   * Stores a unit and resolves once it is durable. If `signal` is aborted before a transaction takes
   * the unit, the unit is dropped.
   */
  submit(unit: Unit, signal?: AbortSignal, trace?: Trace): Promise<Outcome>;
  /** Changes that wait for a transaction. */
  readonly waiting: number;
  /** True while updates get errors because commits take too long, for example because a disk hangs. */
  readonly isTooSlow: boolean;
  /** Resolves when no unit is waiting or being committed. */
  idle(): Promise<void>;
}

/** A transaction that has ended, for logs and metrics. */
export interface CommittedGroup {
  readonly changes: number;
  readonly durationMs: number;
  /** Set if the transaction failed. */
  readonly error?: unknown;
}

interface Waiting {
  readonly unit: Unit;
  readonly signal: AbortSignal | undefined;
  readonly trace: Trace | undefined;
  readonly submittedAt: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** The store stops waiting for locks this long before the caller stops waiting for the store. */
const responseReserveMs = 1_000;

/**
 * Groups writes. While a transaction commits, new units queue, and a later transaction takes all of
 * them. One disk flush is shared by all units of a group.
 */
export function createCommitter(
  store: Pick<InventoryStore, "commit" | "mayOverlap">,
  bounds: CommitBounds,
  onCommitted: (rows: readonly LedgerRow[], epoch: string) => void,
  onGroup: (group: CommittedGroup) => void = () => {},
): Committer {
  /** Units that are submitted together. */
  let arriving: Waiting[] = [];
  let arrivingChanges = 0;
  const queue = createUnitQueue<Waiting>(bounds.groupMax);
  const own = createOwnCounts(() => [...queue.units, ...arriving], keyOf, sizeOf);
  const grouping = createGrouping(bounds.grouping);
  let gathering: ReturnType<typeof setTimeout> | undefined;
  const running = new Set<Promise<void>>();
  /** Whether others may overlap with those that are under way. */
  let mayOverlap = true;
  /** Give callers their outcomes, in the order in which the transactions ended. */
  let answers: (() => void)[] = [];
  /** Transactions that take longer than callers wait. */
  let late = 0;
  const slowness = createSlowness();

  /** Queues the units that were submitted together, so that they join one group. */
  function admit(): void {
    queue.add(arriving);
    arriving = [];
    arrivingChanges = 0;
    if (late > 0) rejectWaiting();
    else sendGroups();
  }

  /** Sends what waits, unless it should wait longer. Returns true if a group was sent. */
  function sendGroups(): boolean {
    clearTimeout(gathering);
    let isSent = false;
    while (queue.units.length > 0) {
      const waitMs = grouping.waitMs(queue.changes);
      if (waitMs > 0) {
        if (Number.isFinite(waitMs)) gathering = setTimeout(sendGroups, waitMs);
        break;
      }
      if (grouping.transactions > 0 && !mayOverlap) break;
      const next = queue.next();
      mayOverlap = store.mayOverlap?.(unitsOf(next)) === true;
      if (grouping.transactions > 0 && !mayOverlap) break;
      const taken = queue.take(next.length);
      own.removed(taken);
      const group = withoutExpired(withoutAborted(taken));
      if (group.length === 0) continue;
      const run = runGroup(group).finally(() => running.delete(run));
      running.add(run);
      isSent = true;
    }
    return isSent;
  }

  /**
   * Commits a group. The next group is sent before the callers get their outcomes: what they do then, such
   * as writing responses, would otherwise keep the store idle.
   */
  async function runGroup(group: readonly Waiting[]): Promise<void> {
    const begunAt = performance.now();
    const changes = changesOf(group);
    grouping.begun(changes);
    slowness.begun();
    let answer: () => void;
    try {
      answer = await settle(group, begunAt);
    } finally {
      const durationMs = performance.now() - begunAt;
      grouping.ended(changes, durationMs, arrivingChanges + queue.changes);
    }
    answers.push(answer);
    // Groups are sent when the turn of the event loop ends.
    if (sendGroups()) await new Promise((resolve) => setImmediate(resolve));
    const ended = answers;
    answers = [];
    for (const answer of ended) answer();
  }

  /** Rejects units that have waited too long. The others of their group must not be late with them. */
  function withoutExpired(taken: readonly Waiting[]): readonly Waiting[] {
    const lastAt = performance.now() - bounds.timeoutMs;
    const isExpired = ({ submittedAt }: Waiting) => submittedAt <= lastAt;
    if (!taken.some(isExpired)) return taken;
    rejectAll(taken.filter(isExpired), "timeout");
    return taken.filter((one) => !isExpired(one));
  }

  /** Commits a group. Returns a function that gives the callers their outcomes. */
  async function settle(group: readonly Waiting[], begunAt: number): Promise<() => void> {
    const leftMs = bounds.timeoutMs - (begunAt - oldestOf(group));
    let isLate = false;
    let failure: unknown;
    const timeout = setTimeout(() => {
      isLate = true;
      late += 1;
      rejectAll(group, "unknownOutcome");
      rejectWaiting();
    }, leftMs);
    let committed: Committed;
    try {
      committed = await store.commit(unitsOf(group), wholeSeconds(leftMs - responseReserveMs));
    } catch (error) {
      failure = error;
      ended(group, begunAt, error);
      // The next attempt may take as long, and none of those that wait has been sent.
      if (performance.now() - begunAt > slowCommitMs) rejectWaiting();
      return () => {
        for (const one of group) one.reject(error);
      };
    } finally {
      clearTimeout(timeout);
      if (isLate) late -= 1;
      slowness.ended(performance.now() - begunAt, isLate ? unavailable("timeout") : failure);
    }
    ended(group, begunAt);
    const { epoch, rows, outcomes } = committed;
    if (rows.length > 0) grouping.stored(rows[0]!.seq, rows.at(-1)!.seq);
    return () => {
      // Also if the callers have already got an error: rows that were stored are shown.
      if (rows.length > 0) onCommitted(rows, epoch);
      for (let index = 0; index < group.length; index++) group[index]!.resolve(outcomes[index]!);
    };
  }

  function ended(group: readonly Waiting[], begunAt: number, error?: unknown): void {
    const endedAt = performance.now();
    for (const { trace, submittedAt } of group) {
      trace?.span("commit wait", submittedAt, begunAt);
      trace?.span("transaction", begunAt, endedAt);
    }
    onGroup({ changes: changesOf(group), durationMs: endedAt - begunAt, error });
  }

  /** Why no more changes of a key may wait, if so. */
  function reasonToReject(keyId: string | null, changes: number): UnavailableReason | undefined {
    const taken = arrivingChanges + queue.changes;
    if (taken + changes > bounds.queueMax) return "tooManyUpdates";
    // Until half of the queue is taken, every key is within its share, and is not counted.
    if (isWithinShare(taken, taken, changes, bounds.queueMax)) return undefined;
    const isWithin = isWithinShare(own.of(keyId), taken, changes, bounds.queueMax);
    return isWithin ? undefined : "tooManyOwnUpdates";
  }

  function rejectWaiting(): void {
    const rejected = queue.clear();
    own.removed(rejected);
    rejectAll(rejected, "timeout");
  }

  return {
    submit(unit, signal, trace) {
      if (late > 0) return Promise.reject(unavailable("timeout"));
      const changes = unit.changes.length;
      const reason = reasonToReject(unit.keyId, changes);
      if (reason) return Promise.reject(unavailable(reason));
      return new Promise((resolve, reject) => {
        // Requests that arrive in one turn of the event loop are also passed on together.
        if (arriving.length === 0) queueMicrotask(admit);
        arrivingChanges += changes;
        const one = { unit, signal, trace, submittedAt: performance.now(), resolve, reject };
        arriving.push(one);
        own.added(one);
      });
    },
    get isTooSlow() {
      return late > 0 || slowness.isTooSlow;
    },
    get waiting() {
      return arrivingChanges + queue.changes;
    },
    async idle() {
      while (running.size > 0 || arriving.length > 0 || queue.units.length > 0) {
        await (running.size > 0 ? Promise.race(running) : yieldToEventLoop());
      }
    },
  };
}

function unitsOf(group: readonly Waiting[]): readonly Unit[] {
  return group.map((one) => one.unit);
}

/** When the unit that has waited longest was submitted. Keys take turns, so it need not be the first. */
function oldestOf(group: readonly Waiting[]): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const { submittedAt } of group) oldest = Math.min(oldest, submittedAt);
  return oldest;
}

/** Rounded, so that engines change their timeout only after a considerable wait. */
function wholeSeconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1_000) * 1_000);
}

function rejectAll(units: readonly Waiting[], reason: UnavailableReason): void {
  const error = unavailable(reason);
  for (const one of units) one.reject(error);
}

/** Rejects units whose connection is gone: their clients would never see the response. */
function withoutAborted(taken: readonly Waiting[]): readonly Waiting[] {
  if (!taken.some(isAborted)) return taken;
  for (const one of taken.filter(isAborted)) {
    one.reject(
      new ServiceError(
        "invalid_request",
        "The connection was closed before the update was stored. Nothing was changed.",
      ),
    );
  }
  return taken.filter((one) => !isAborted(one));
}

function isAborted({ signal }: Waiting): boolean {
  return signal?.aborted === true;
}
