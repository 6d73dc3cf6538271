import type { Committed, Outcome, StockRow, Unit } from "../ledger/ledger.ts";
import type { InventoryStore } from "../ledger/store.ts";
import { yieldToEventLoop } from "../running/background.ts";
import type { Trace } from "../running/clock.ts";
import { invalidRequest, ServiceError, unavailable } from "../running/errors.ts";
import * as groups from "./groups.ts";

export interface CommitBounds {
  /** Changes in one transaction. A larger unit gets its own transaction. */
  readonly groupMax: number;
  /**
   * Changes that wait for a transaction. A unit that would exceed this is rejected. One key may have
   * about half of them, and fewer while other keys wait.
   */
  readonly queueMax: number;
  /** The longest time that a caller waits for the outcome of a unit. */
  readonly timeoutMs: number;
  readonly grouping: groups.GroupingBounds;
}

export type Committer = ReturnType<typeof createCommitter>;

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
 * Groups writes. While a transaction commits, new units queue, and a later transaction takes all of
 * them. One disk flush is shared by all units of a group. `monotonicMs` is a clock that never jumps.
 */
export function createCommitter(
  store: Pick<InventoryStore, "commit" | "mayOverlap">,
  bounds: CommitBounds,
  monotonicMs: () => number,
  onCommitted: (rows: readonly StockRow[], epoch: string) => void,
  onGroup: readonly ((group: CommittedGroup) => void)[] = [],
) {
  const { groupMax, queueMax, timeoutMs } = bounds;
  const queue = groups.createUnitQueue<Waiting>(groupMax, queueMax);
  const grouping = groups.createGrouping(bounds.grouping, monotonicMs);
  const rejectWaiting = () => rejectAll(queue.remove(), unavailable("timeout"));
  const awaitExpiry = createExpiry(queue, timeoutMs * waitShare, monotonicMs);
  const parts = { store, timeoutMs, monotonicMs, onGroup, rejectWaiting };
  const transactions = createTransactions(parts);
  let gathering: ReturnType<typeof setTimeout> | undefined;
  const running = new Set<Promise<void>>();
  /** Whether another transaction may overlap with those that are under way. */
  let mayOverlap = true;
  /** Give callers their outcomes, in the order in which the transactions ended. */
  const answers: (() => void)[] = [];

  /** Queues the units that were submitted together, so that they join one group. */
  function admit(): void {
    queue.admit();
    if (transactions.areLate()) rejectWaiting();
    else sendGroups();
  }

  /** Sends what waits, unless it should wait longer. Returns true if a group was sent. */
  function sendGroups(): boolean {
    clearTimeout(gathering);
    const before = running.size;
    while (queue.changes() > 0) {
      const waitMs = grouping.waitMs(queue.changes());
      if (waitMs > 0) {
        if (Number.isFinite(waitMs)) gathering = setTimeout(sendGroups, waitMs);
        break;
      }
      if (grouping.transactions() > 0 && !mayOverlap) break;
      const next = groups.withOneStocktake(queue.next());
      mayOverlap = store.mayOverlap(unitsOf(next));
      if (grouping.transactions() > 0 && !mayOverlap) break;
      const group = stillWanted(queue.take(next.length), monotonicMs() - timeoutMs * waitShare);
      if (group.length === 0) continue;
      const run = runGroup(group).finally(() => running.delete(run));
      running.add(run);
    }
    awaitExpiry();
    return running.size > before;
  }

  /**
   * Commits a group. The next group is sent before the callers get their outcomes: what they do then, such
   * as writing responses, would otherwise keep the store idle.
   */
  async function runGroup(group: readonly Waiting[]): Promise<void> {
    const begunAt = monotonicMs();
    const changes = groups.changesOf(group);
    grouping.begun(changes);
    try {
      const { epoch, rows, outcomes } = await transactions.commit(group, begunAt);
      if (rows.length > 0) grouping.stored(rows[0]!.seq, rows.at(-1)!.seq);
      answers.push(() => {
        // Even if the callers already got an error, the stored rows must be shown.
        if (rows.length > 0) onCommitted(rows, epoch);
        for (let index = 0; index < group.length; index++) group[index]!.resolve(outcomes[index]!);
      });
    } catch (error) {
      answers.push(() => rejectAll(group, error));
    }
    grouping.ended(changes, monotonicMs() - begunAt, queue.waiting());
    // The group is sent when the turn of the event loop ends.
    if (sendGroups()) await new Promise((resolve) => setImmediate(resolve));
    for (const answer of answers.splice(0)) answer();
  }

  return {
    /**
     * Stores a unit and resolves once it is durable. If `signal` is aborted before a transaction takes
     * the unit, the unit is dropped.
     */
    submit(unit: Unit, signal?: AbortSignal, trace?: Trace): Promise<Outcome> {
      if (transactions.areLate()) return Promise.reject(unavailable("timeout"));
      const reason = queue.reasonToReject(unit);
      if (reason) return Promise.reject(unavailable(reason));
      return new Promise((resolve, reject) => {
        // Requests that arrive in the same turn of the event loop join the same group.
        if (queue.waiting() === queue.changes()) queueMicrotask(admit);
        queue.add({ unit, signal, trace, submittedAt: monotonicMs(), resolve, reject });
      });
    },
    /** True while updates get errors because commits take too long, for example because a disk hangs. */
    isTooSlow: () => transactions.areLate() || transactions.areTooSlow(),
    /** Changes that wait for a transaction. */
    waiting: queue.waiting,
    /** Resolves when no unit is waiting or being committed. */
    async idle(): Promise<void> {
      while (running.size > 0 || queue.waiting() > 0) {
        await (running.size > 0 ? Promise.race(running) : yieldToEventLoop());
      }
    },
  };
}

/**
 * A unit waits for this share of its timeout, and is then rejected. The rest would be too short for a
 * transaction, and the whole group would fail with it.
 */
const waitShare = 0.75;

/**
 * Rejects units in time that wait for several slow transactions: each transaction ends in time for its
 * own units only. Returns a function to call when units are left waiting. A timer does the rest.
 */
function createExpiry(
  queue: Pick<groups.UnitQueue<Waiting>, "admitted" | "remove">,
  waitMsMax: number,
  monotonicMs: () => number,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function expire(): void {
    timer = undefined;
    const lastAt = monotonicMs() - waitMsMax;
    const expired = queue.remove(({ submittedAt }) => submittedAt <= lastAt);
    rejectAll(expired, unavailable("timeout"));
    awaitExpiry();
  }

  function awaitExpiry(): void {
    if (timer || queue.admitted().length === 0) return;
    const leftMs = waitMsMax - (monotonicMs() - oldestOf(queue.admitted()));
    timer = setTimeout(expire, leftMs).unref();
  }

  return awaitExpiry;
}

/** The store stops waiting for locks this long before the caller stops waiting for the store. */
const responseReserveMs = 1_000;

/** A commit that takes longer is slow. */
export const slowCommitMs = 1_000;

const slownessMs = 5_000;

interface TransactionParts {
  readonly store: Pick<InventoryStore, "commit">;
  readonly timeoutMs: number;
  readonly monotonicMs: () => number;
  readonly onGroup: readonly ((group: CommittedGroup) => void)[];
  /** Rejects the units that wait for a transaction. */
  readonly rejectWaiting: () => void;
}

/** Commits groups, and knows whether commits take too long for their callers. */
function createTransactions(parts: TransactionParts) {
  const { store, timeoutMs, monotonicMs, onGroup, rejectWaiting } = parts;
  /** Transactions that take longer than callers wait. */
  let late = 0;
  /**
   * Commits are too slow once one fails after more than a second. This ends when a commit takes less, or
   * when none was under way for five seconds. Without the second rule, the service would never recover:
   * while it is not ready, a load balancer sends it no updates.
   */
  let tooSlowUntil = 0;
  const areTooSlow = () => monotonicMs() < tooSlowUntil;

  function judge(durationMs: number, endedAt: number, error: unknown): void {
    if (durationMs <= slowCommitMs) tooSlowUntil = 0;
    else if (isFailure(error) || areTooSlow()) tooSlowUntil = endedAt + slownessMs;
  }

  async function commit(group: readonly Waiting[], begunAt: number): Promise<Committed> {
    const leftMs = timeoutMs - (begunAt - oldestOf(group));
    if (areTooSlow()) tooSlowUntil = Number.POSITIVE_INFINITY;
    let isLate = false;
    let failure: unknown;
    const timeout = setTimeout(() => {
      isLate = true;
      late += 1;
      rejectAll(group, unavailable("unknownOutcome"));
      rejectWaiting();
    }, leftMs);
    try {
      return await store.commit(unitsOf(group), wholeSeconds(leftMs - responseReserveMs));
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      clearTimeout(timeout);
      const endedAt = monotonicMs();
      const durationMs = endedAt - begunAt;
      if (isLate) late -= 1;
      judge(durationMs, endedAt, isLate ? unavailable("timeout") : failure);
      for (const { trace, submittedAt } of group) {
        trace?.span("commit wait", submittedAt, begunAt);
        trace?.span("transaction", begunAt, endedAt);
      }
      const ended = { changes: groups.changesOf(group), durationMs, error: failure };
      for (const listener of onGroup) listener(ended);
      // The next commit may take as long, and nothing of these units has been sent yet.
      if (failure !== undefined && durationMs > slowCommitMs) rejectWaiting();
    }
  }

  return {
    commit,
    areLate: () => late > 0,
    areTooSlow,
  };
}

/** A lock that was not free in time, for example during an import, does not mean that the store is slow. */
function isFailure(error: unknown): boolean {
  const isBusy = error instanceof ServiceError && error.reason === "busy";
  return error !== undefined && !isBusy;
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

/** Rounded to seconds, so that engines rarely have to change their timeout. */
function wholeSeconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1_000) * 1_000);
}

function rejectAll(units: readonly Waiting[], error: unknown): void {
  for (const one of units) one.reject(error);
}

/** Rejects units whose callers are gone, or that were submitted by `lastAt`. Returns the others. */
function stillWanted(taken: readonly Waiting[], lastAt: number): readonly Waiting[] {
  return withoutExpired(withoutAborted(taken), lastAt);
}

/** Rejects units that have waited too long. */
function withoutExpired(taken: readonly Waiting[], lastAt: number): readonly Waiting[] {
  const isExpired = ({ submittedAt }: Waiting) => submittedAt <= lastAt;
  if (!taken.some(isExpired)) return taken;
  rejectAll(taken.filter(isExpired), unavailable("timeout"));
  return taken.filter((one) => !isExpired(one));
}

/** Rejects units whose connection is gone: their clients would never see the response. */
function withoutAborted(taken: readonly Waiting[]): readonly Waiting[] {
  if (!taken.some(isAborted)) return taken;
  const message = "The connection was closed before the update was stored. Nothing was changed.";
  rejectAll(taken.filter(isAborted), invalidRequest(message));
  return taken.filter((one) => !isAborted(one));
}

function isAborted({ signal }: Waiting): boolean {
  return signal?.aborted === true;
}
