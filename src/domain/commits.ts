import { Refusal } from "./errors.ts";
import type { Change, Outcome } from "./ledger.ts";
import type { Store } from "./ports.ts";
import { nextTurn } from "./turns.ts";

export interface CommitBounds {
  /** Changes that share one transaction. */
  readonly groupMax: number;
  /** Changes waiting for a transaction; one more is refused. */
  readonly queueMax: number;
  /** How long a change waits for its answer at most, whatever the store does. */
  readonly answerMsMax: number;
}

export interface Committer {
  /**
   * Resolves once the change is durable, never before. If `signal` is aborted before a transaction
   * takes the change, the change is dropped.
   */
  submit(change: Change, signal?: AbortSignal): Promise<Outcome>;
  /** True while a commit takes longer than anybody waits for: a disk that hangs, for one. */
  readonly isStuck: boolean;
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly change: Change;
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

const silentStore = "The store does not answer in time; try again.";

/** What is left of a change's time for its answer when the store must have given up waiting. */
const giveUpMs = 1_000;

/**
 * Groups writes: while one transaction commits, arriving changes queue, and the next transaction
 * takes them all. One disk flush is thus shared by everybody who waited for it.
 */
export function createCommitter(
  store: Pick<Store, "commit">,
  bounds: CommitBounds,
  onCommitted: (outcomes: readonly Outcome[]) => void,
): Committer {
  /** Changes submitted in this turn of the event loop. */
  let arriving: Waiting[] = [];
  let waiting: Waiting[] = [];
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
      const taken = waiting.length <= bounds.groupMax ? waiting : waiting.slice(0, bounds.groupMax);
      waiting = taken === waiting ? [] : waiting.slice(bounds.groupMax);
      const group = withoutAborted(taken);
      if (group.length > 0) await settle(group);
    }
  }

  async function settle(group: readonly Waiting[]): Promise<void> {
    const begunAt = performance.now();
    const leftMs = bounds.answerMsMax - (begunAt - group[0]!.submittedAt);
    const late = setTimeout(() => {
      isStuck = true;
      refuseAll(group, "The store does not answer in time; the update may have been stored.");
      refuseWaiting();
    }, leftMs);
    let outcomes: readonly Outcome[];
    try {
      const changes = group.map((one) => one.change);
      outcomes = await store.commit(changes, wholeSeconds(leftMs - giveUpMs));
    } catch (error) {
      for (const one of group) one.reject(error);
      if (performance.now() - begunAt > patienceMs) refuseWaiting();
      return;
    } finally {
      clearTimeout(late);
      isStuck = false;
    }
    // Also when nobody waits for it any more: what was stored is shown.
    onCommitted(outcomes);
    for (let index = 0; index < group.length; index++) group[index]!.resolve(outcomes[index]!);
  }

  function refuseWaiting(): void {
    refuseAll(waiting, silentStore);
    waiting = [];
  }

  return {
    submit(change, signal) {
      if (isStuck) return Promise.reject(new Refusal("unavailable", silentStore));
      if (waiting.length + arriving.length >= bounds.queueMax) {
        return Promise.reject(
          new Refusal("unavailable", "Too many updates are waiting to be stored; try again."),
        );
      }
      return new Promise((resolve, reject) => {
        if (arriving.length === 0) setImmediate(admit);
        arriving.push({ change, signal, submittedAt: performance.now(), resolve, reject });
      });
    },
    get isStuck() {
      return isStuck;
    },
    async idle() {
      while (running || arriving.length > 0) await (running ?? nextTurn());
    },
  };
}

/** Rounded, so that engines set a deadline anew only when there was a real wait. */
function wholeSeconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1_000) * 1_000);
}

function refuseAll(changes: readonly Waiting[], message: string): void {
  const refusal = new Refusal("unavailable", message);
  for (const one of changes) one.reject(refusal);
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
