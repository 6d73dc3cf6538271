import { Refusal, type UnavailableReason, unavailable } from "./errors.ts";
import type { Committed, LedgerRow, Outcome, Unit } from "./ledger.ts";
import type { InventoryStore } from "./ports.ts";
import { yieldToEventLoop } from "./turns.ts";

export interface CommitBounds {
  /** Changes that share one transaction. A larger unit gets a transaction of its own. */
  readonly groupMax: number;
  /** Changes that wait for a transaction. A unit that would exceed this is refused. */
  readonly queueMax: number;
  /** How long a unit waits for its outcome, whatever the store does. */
  readonly answerMsMax: number;
}

export interface Committer {
  /**
   * Stores a unit and resolves once it is durable. If `signal` is aborted before a transaction takes
   * the unit, the unit is dropped.
   */
  submit(unit: Unit, signal?: AbortSignal): Promise<Outcome>;
  /** True while a commit takes longer than callers wait, for example because a disk hangs. */
  readonly isStuck: boolean;
  /** Resolves when no unit is waiting or being committed. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly unit: Unit;
  readonly signal: AbortSignal | undefined;
  readonly submittedAt: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * When a commit fails after more than this, those who wait behind it are refused along with it:
 * the next try may take as long again, and nothing of theirs has been sent.
 */
const patienceMs = 1_000;

/** What is left of a change's time for its answer when the store must have given up waiting. */
const giveUpMs = 1_000;

/**
 * Groups writes: while one transaction commits, arriving changes queue, and the next transaction
 * takes them all. One disk flush is thus shared by everybody who waited for it.
 */
export function createCommitter(
  store: Pick<InventoryStore, "commit">,
  bounds: CommitBounds,
  onCommitted: (rows: readonly LedgerRow[]) => void,
): Committer {
  /** Units submitted in this turn of the event loop. */
  let arriving: Waiting[] = [];
  let waiting: Waiting[] = [];
  /** Changes in both. */
  let queuedChanges = 0;
  let running: Promise<void> | undefined;
  let isStuck = false;

  /**
   * Lets changes wait for a group one turn of the event loop after they were submitted. Everything
   * that arrived together thus joins one group. And the HTTP parser has finished: it may reject the
   * end of a request that it has already handed over, and only then is the signal aborted. See
   * docs/decisions/0011-rejected-requests.md.
   */
  function admit(): void {
    for (const one of arriving) waiting.push(one);
    arriving = [];
    if (isStuck) refuseWaiting();
    else {
      running ??= run().finally(() => {
        running = undefined;
      });
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const group = withoutAborted(takeGroup());
      if (group.length > 0) await settle(group);
    }
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

  async function settle(group: readonly Waiting[]): Promise<void> {
    const begunAt = performance.now();
    const leftMs = bounds.answerMsMax - (begunAt - group[0]!.submittedAt);
    const late = setTimeout(() => {
      isStuck = true;
      refuseAll(group, "unknownOutcome");
      refuseWaiting();
    }, leftMs);
    let committed: Committed;
    try {
      const units = group.map((one) => one.unit);
      committed = await store.commit(units, wholeSeconds(leftMs - giveUpMs));
    } catch (error) {
      for (const one of group) one.reject(error);
      if (performance.now() - begunAt > patienceMs) refuseWaiting();
      return;
    } finally {
      clearTimeout(late);
      isStuck = false;
    }
    // Also when nobody waits for it any more: what was stored is shown.
    const { rows, outcomes } = committed;
    if (rows.length > 0) onCommitted(rows);
    for (let index = 0; index < group.length; index++) group[index]!.resolve(outcomes[index]!);
  }

  function refuseWaiting(): void {
    refuseAll(waiting, "timeout");
    for (const { unit } of waiting) queuedChanges -= unit.changes.length;
    waiting = [];
  }

  return {
    submit(unit, signal) {
      if (isStuck) return Promise.reject(unavailable("timeout"));
      if (queuedChanges + unit.changes.length > bounds.queueMax) {
        return Promise.reject(unavailable("tooManyUpdates"));
      }
      return new Promise((resolve, reject) => {
        if (arriving.length === 0) setImmediate(admit);
        queuedChanges += unit.changes.length;
        arriving.push({ unit, signal, submittedAt: performance.now(), resolve, reject });
      });
    },
    get isStuck() {
      return isStuck;
    },
    async idle() {
      while (running || arriving.length > 0) await (running ?? yieldToEventLoop());
    },
  };
}

/** Rounded, so that engines set a deadline anew only when there was a real wait. */
function wholeSeconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1_000) * 1_000);
}

function refuseAll(units: readonly Waiting[], reason: UnavailableReason): void {
  const error = unavailable(reason);
  for (const one of units) one.reject(error);
}

/** Nobody hears an answer on a connection that is gone, so its changes are refused, not stored. */
function withoutAborted(taken: readonly Waiting[]): readonly Waiting[] {
  if (!taken.some(isAborted)) return taken;
  for (const one of taken.filter(isAborted)) {
    one.reject(
      new Refusal("invalid_request", "The connection ended before the update was stored."),
    );
  }
  return taken.filter((one) => !isAborted(one));
}

function isAborted({ signal }: Waiting): boolean {
  return signal?.aborted === true;
}
