import { Refusal } from "./errors.ts";
import type { Change, Outcome } from "./ledger.ts";
import type { Store } from "./ports.ts";

export interface CommitBounds {
  /** Changes that share one transaction. */
  readonly groupMax: number;
  /** Changes waiting for a transaction; one more is refused. */
  readonly queueMax: number;
}

export interface Committer {
  /**
   * Resolves once the change is durable, never before. If `signal` is aborted before a transaction
   * takes the change, the change is dropped.
   */
  submit(change: Change, signal?: AbortSignal): Promise<Outcome>;
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

/** A change is refused when the store could not take it for this long since it was submitted. */
const answerMs = 8_000;

/**
 * Groups writes: while one transaction commits, arriving changes queue, and the next transaction
 * takes them all. One disk flush is thus shared by everybody who waited for it.
 */
export function createCommitter(
  store: Pick<Store, "commit">,
  bounds: CommitBounds,
  onCommitted: (outcomes: readonly Outcome[]) => void,
): Committer {
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    // A turn of the event loop lets everything that arrived together join the first group. It also
    // lets the HTTP parser finish: it may reject the end of a request that it has already handed
    // over, and only then is the signal aborted. See docs/decisions/0011-rejected-requests.md.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const taken = waiting.length <= bounds.groupMax ? waiting : waiting.slice(0, bounds.groupMax);
      waiting = taken === waiting ? [] : waiting.slice(bounds.groupMax);
      const group = withoutAborted(taken);
      if (group.length > 0) await settle(group);
    }
    running = undefined;
  }

  async function settle(group: readonly Waiting[]): Promise<void> {
    const begunAt = performance.now();
    let outcomes: readonly Outcome[];
    try {
      const changes = group.map((one) => one.change);
      outcomes = await store.commit(changes, withinMs(begunAt - group[0]!.submittedAt));
    } catch (error) {
      for (const one of group) one.reject(error);
      if (performance.now() - begunAt > patienceMs) refuseWaiting();
      return;
    }
    onCommitted(outcomes);
    for (let index = 0; index < group.length; index++) group[index]!.resolve(outcomes[index]!);
  }

  function refuseWaiting(): void {
    const refusal = new Refusal("unavailable", "The store does not answer in time; try again.");
    for (const one of waiting) one.reject(refusal);
    waiting = [];
  }

  return {
    submit(change, signal) {
      if (waiting.length >= bounds.queueMax) {
        return Promise.reject(
          new Refusal("unavailable", "Too many updates are waiting to be stored; try again."),
        );
      }
      return new Promise((resolve, reject) => {
        waiting.push({ change, signal, submittedAt: performance.now(), resolve, reject });
        running ??= run();
      });
    },
    async idle() {
      while (running) await running;
    },
  };
}

/** In whole seconds, so that engines set a deadline anew only when there was a real wait. */
function withinMs(waitedMs: number): number {
  return Math.max(0, answerMs - Math.floor(waitedMs / 1_000) * 1_000);
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
