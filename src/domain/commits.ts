import { ServiceError, type UnavailableReason, unavailable } from "./errors.ts";
import { yieldToEventLoop } from "./event-loop.ts";
import { createGrouping, type GroupingBounds } from "./grouping.ts";
import type { Committed, LedgerRow, Outcome, Unit } from "./ledger.ts";
import type { InventoryStore, Trace } from "./ports.ts";

export interface CommitBounds {
  /** Changes in one transaction. A larger unit gets its own transaction. */
  readonly groupMax: number;
  /** Changes that wait for a transaction. A unit that would exceed this is rejected. */
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
  /** True while a commit takes longer than callers wait, for example because a disk hangs. */
  readonly isStuck: boolean;
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

/**
 * If a commit fails after more than this, the units that wait behind it are rejected too. The next
 * attempt may take as long, and none of them has been sent.
 */
const slowFailureMs = 1_000;

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
  let waiting: Waiting[] = [];
  /** The changes of each. */
  let arrivingChanges = 0;
  let waitingChanges = 0;
  const grouping = createGrouping(bounds.grouping);
  let gathering: ReturnType<typeof setTimeout> | undefined;
  const running = new Set<Promise<void>>();
  /** Whether others may overlap with those that are under way. */
  let mayOverlap = true;
  /** Give callers their outcomes, in the order in which the transactions ended. */
  let answers: (() => void)[] = [];
  /** Transactions that take longer than callers wait. */
  let late = 0;

  /** Queues the units that were submitted together, so that they join one group. */
  function admit(): void {
    for (const one of arriving) waiting.push(one);
    arriving = [];
    waitingChanges += arrivingChanges;
    arrivingChanges = 0;
    if (late > 0) rejectWaiting();
    else sendGroups();
  }

  /** Sends what waits, unless it should wait longer. Returns true if a group was sent. */
  function sendGroups(): boolean {
    clearTimeout(gathering);
    let isSent = false;
    while (waiting.length > 0) {
      const waitMs = grouping.waitMs(waitingChanges);
      if (waitMs > 0) {
        if (Number.isFinite(waitMs)) gathering = setTimeout(sendGroups, waitMs);
        break;
      }
      if (grouping.transactions > 0 && !mayOverlap) break;
      const end = groupEnd();
      mayOverlap = store.mayOverlap?.(unitsOf(waiting.slice(0, end))) === true;
      if (grouping.transactions > 0 && !mayOverlap) break;
      const group = withoutAborted(take(end));
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
    let answer: () => void;
    try {
      answer = await settle(group, begunAt);
    } finally {
      const durationMs = performance.now() - begunAt;
      grouping.ended(changes, durationMs, arrivingChanges + waitingChanges);
    }
    answers.push(answer);
    // Groups are sent when the turn of the event loop ends.
    if (sendGroups()) await new Promise((resolve) => setImmediate(resolve));
    const ended = answers;
    answers = [];
    for (const answer of ended) answer();
  }

  /** How many of the units that wait share the next transaction: at least one. */
  function groupEnd(): number {
    let changes = 0;
    let end = 0;
    for (; end < waiting.length; end++) {
      changes += waiting[end]!.unit.changes.length;
      if (end > 0 && changes > bounds.groupMax) break;
    }
    return end;
  }

  /** Removes units from the queue. */
  function take(count: number): readonly Waiting[] {
    const taken = waiting.splice(0, count);
    waitingChanges -= changesOf(taken);
    return taken;
  }

  /** Commits a group. Returns a function that gives the callers their outcomes. */
  async function settle(group: readonly Waiting[], begunAt: number): Promise<() => void> {
    const leftMs = bounds.timeoutMs - (begunAt - group[0]!.submittedAt);
    let isLate = false;
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
      ended(group, begunAt, error);
      if (performance.now() - begunAt > slowFailureMs) rejectWaiting();
      return () => {
        for (const one of group) one.reject(error);
      };
    } finally {
      clearTimeout(timeout);
      if (isLate) late -= 1;
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

  function rejectWaiting(): void {
    rejectAll(waiting, "timeout");
    waiting = [];
    waitingChanges = 0;
  }

  return {
    submit(unit, signal, trace) {
      if (late > 0) return Promise.reject(unavailable("timeout"));
      const changes = unit.changes.length;
      if (arrivingChanges + waitingChanges + changes > bounds.queueMax) {
        return Promise.reject(unavailable("tooManyUpdates"));
      }
      return new Promise((resolve, reject) => {
        // Requests that arrive in one turn of the event loop are also passed on together.
        if (arriving.length === 0) queueMicrotask(admit);
        arrivingChanges += changes;
        arriving.push({ unit, signal, trace, submittedAt: performance.now(), resolve, reject });
      });
    },
    get isStuck() {
      return late > 0;
    },
    get waiting() {
      return arrivingChanges + waitingChanges;
    },
    async idle() {
      while (running.size > 0 || arriving.length > 0 || waiting.length > 0) {
        await (running.size > 0 ? Promise.race(running) : yieldToEventLoop());
      }
    },
  };
}

function unitsOf(group: readonly Waiting[]): readonly Unit[] {
  return group.map((one) => one.unit);
}

function changesOf(group: readonly Waiting[]): number {
  let changes = 0;
  for (const { unit } of group) changes += unit.changes.length;
  return changes;
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
        "The connection was closed before the update was stored.",
      ),
    );
  }
  return taken.filter((one) => !isAborted(one));
}

function isAborted({ signal }: Waiting): boolean {
  return signal?.aborted === true;
}
