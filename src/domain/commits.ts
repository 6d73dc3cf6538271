import { ServiceError, type UnavailableReason, unavailable } from "./errors.ts";
import { yieldToEventLoop } from "./event-loop.ts";
import type { Committed, LedgerRow, Outcome, Unit } from "./ledger.ts";
import type { InventoryStore, Trace } from "./ports.ts";

export interface CommitBounds {
  /** Changes in one transaction. A larger unit gets its own transaction. */
  readonly groupMax: number;
  /** Changes that wait for a transaction. A unit that would exceed this is rejected. */
  readonly queueMax: number;
  /** The longest time that a caller waits for the outcome of a unit. */
  readonly timeoutMs: number;
  readonly gather: GatherBounds;
}

/**
 * A small group waits a moment for callers that are likely to return. Worth it where a transaction costs
 * much more than a change in it.
 */
export interface GatherBounds {
  /** Changes up to which a group is small. 0 if no group waits. */
  readonly changesMax: number;
  readonly waitMsMax: number;
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

/**
 * A group waits for returning callers for at most this share of the last transaction's duration. Timers
 * are exact to a millisecond.
 */
const gatherShare = 0.5;

/** The store stops waiting for locks this long before the caller stops waiting for the store. */
const responseReserveMs = 1_000;

/**
 * Groups writes. While one transaction commits, new units queue, and the next transaction takes all
 * of them. One disk flush is shared by all units of a group.
 */
export function createCommitter(
  store: Pick<InventoryStore, "commit">,
  bounds: CommitBounds,
  onCommitted: (rows: readonly LedgerRow[], epoch: string) => void,
  onGroup: (group: CommittedGroup) => void = () => {},
): Committer {
  /** Units submitted in this turn of the event loop. */
  let arriving: Waiting[] = [];
  let waiting: Waiting[] = [];
  /** Changes in both. */
  let queuedChanges = 0;
  let running: Promise<void> | undefined;
  let isStuck = false;
  /** Changes of the last group, and those that were queued when it ended. Their callers may return. */
  let returning = 0;
  /** When the next group stops waiting for them. */
  let gatherUntil = 0;
  let gathered: (() => void) | undefined;

  /**
   * Queues units one turn of the event loop after they were submitted. Units that arrive together
   * join one group, and the HTTP parser has finished: it may reject the end of a request after
   * passing the request on, and aborts the signal only then. See
   * docs/decisions/0011-rejected-requests.md.
   */
  function admit(): void {
    for (const one of arriving) waiting.push(one);
    arriving = [];
    if (queuedChanges >= returning) gathered?.();
    if (isStuck) rejectWaiting();
    else {
      running ??= run().finally(() => {
        running = undefined;
      });
    }
  }

  /**
   * Commits groups one after the other. The next group is sent before the callers of the last one get
   * their outcomes: what they do then, such as writing responses, would otherwise keep the store idle.
   */
  async function run(): Promise<void> {
    let answer: (() => void) | undefined;
    while (waiting.length > 0) {
      await gathering();
      const group = withoutAborted(takeGroup());
      if (group.length === 0) continue;
      const begunAt = performance.now();
      const settling = settle(group, begunAt);
      if (answer) {
        // The group is sent when the turn of the event loop ends.
        await new Promise((resolve) => setImmediate(resolve));
        answer();
      }
      answer = await settling;
      const endedAt = performance.now();
      gatherUntil = endedAt + Math.min(gatherShare * (endedAt - begunAt), bounds.gather.waitMsMax);
      returning = changesOf(group) + queuedChanges;
      if (returning > bounds.gather.changesMax) continue;
      answer();
      answer = undefined;
    }
    answer?.();
  }

  /** Waits until as many changes are queued as a moment ago, but not for long. */
  async function gathering(): Promise<void> {
    const leftMs = gatherUntil - performance.now();
    if (returning > bounds.gather.changesMax || queuedChanges >= returning || leftMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    gathered = resolve;
    const timer = setTimeout(resolve, leftMs);
    await promise;
    clearTimeout(timer);
    gathered = undefined;
  }

  /** Removes the units that share the next transaction from the queue: at least one. */
  function takeGroup(): readonly Waiting[] {
    let changes = 0;
    let end = 0;
    for (; end < waiting.length; end++) {
      const more = waiting[end]!.unit.changes.length;
      if (end > 0 && changes + more > bounds.groupMax) break;
      changes += more;
    }
    queuedChanges -= changes;
    const taken = waiting;
    waiting = taken.slice(end);
    return end === taken.length ? taken : taken.slice(0, end);
  }

  /** Commits a group. Returns a function that gives the callers their outcomes. */
  async function settle(group: readonly Waiting[], begunAt: number): Promise<() => void> {
    const leftMs = bounds.timeoutMs - (begunAt - group[0]!.submittedAt);
    const late = setTimeout(() => {
      isStuck = true;
      rejectAll(group, "unknownOutcome");
      rejectWaiting();
    }, leftMs);
    let committed: Committed;
    try {
      const units = group.map((one) => one.unit);
      committed = await store.commit(units, wholeSeconds(leftMs - responseReserveMs));
    } catch (error) {
      ended(group, begunAt, error);
      if (performance.now() - begunAt > slowFailureMs) rejectWaiting();
      return () => {
        for (const one of group) one.reject(error);
      };
    } finally {
      clearTimeout(late);
      isStuck = false;
    }
    ended(group, begunAt);
    return () => {
      // Also if the callers have already got an error: rows that were stored are shown.
      const { epoch, rows, outcomes } = committed;
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
    for (const { unit } of waiting) queuedChanges -= unit.changes.length;
    waiting = [];
  }

  return {
    submit(unit, signal, trace) {
      if (isStuck) return Promise.reject(unavailable("timeout"));
      if (queuedChanges + unit.changes.length > bounds.queueMax) {
        return Promise.reject(unavailable("tooManyUpdates"));
      }
      return new Promise((resolve, reject) => {
        if (arriving.length === 0) setImmediate(admit);
        queuedChanges += unit.changes.length;
        arriving.push({ unit, signal, trace, submittedAt: performance.now(), resolve, reject });
      });
    },
    get isStuck() {
      return isStuck;
    },
    get waiting() {
      return queuedChanges;
    },
    async idle() {
      while (running || arriving.length > 0) await (running ?? yieldToEventLoop());
    },
  };
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
