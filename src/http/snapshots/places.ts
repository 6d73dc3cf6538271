import { inTurns, isWithinShare } from "../../domain/commits/groups.ts";
import { type Caller, roleOf } from "../../domain/keys/keys.ts";
import { unavailable } from "../../domain/running/errors.ts";

/** Whose request it is. */
export type Visitor = Pick<Caller, "keyId" | "scopes">;

interface Waiting {
  readonly visitor: Visitor;
  readonly enter: () => void;
}

export type Places = ReturnType<typeof createPlaces>;

/**
 * A bounded number of places, and of requests that wait for one. A key may have about half of
 * them, and fewer while other keys have some. Keys take turns. Operators wait in a queue of their own, and
 * go first.
 */
export function createPlaces(placesMax: number, waitingMax: number) {
  const taken: Visitor[] = [];
  /** Each in the order in which they will be let in. */
  const queues: { operators: Waiting[]; others: Waiting[] } = { operators: [], others: [] };

  function mayEnter({ keyId }: Visitor): boolean {
    return isWithinShare(countOf(taken, keyId), taken.length, 1, placesMax);
  }

  function letIn(): void {
    for (const queue of [queues.operators, queues.others]) {
      for (let at = queue.findIndex(isNext); at >= 0; at = queue.findIndex(isNext)) {
        const [next] = queue.splice(at, 1);
        taken.push(next!.visitor);
        next!.enter();
      }
    }
  }

  const isNext = ({ visitor }: Waiting) => mayEnter(visitor);

  /** Waits until it is let in or the signal is aborted. */
  async function wait(visitor: Visitor, signal: AbortSignal): Promise<void> {
    const name = roleOf(visitor) ? "operators" : "others";
    const visitors = queues[name].map((one) => one.visitor);
    if (visitors.length >= waitingMax) throw unavailable("tooManyRequests");
    if (!isWithinShare(countOf(visitors, visitor.keyId), visitors.length, 1, waitingMax)) {
      throw unavailable("tooManyOwnRequests");
    }
    if (signal.aborted) throw unavailable("tooManyRequests");
    const { promise, resolve } = Promise.withResolvers<void>();
    const one = { visitor, enter: resolve };
    const keyOf = (waiting: Waiting) => waiting.visitor.keyId;
    queues[name] = inTurns([...queues[name], one], keyOf, () => 1, 1);
    signal.addEventListener("abort", () => resolve());
    await promise;
    const at = queues[name].indexOf(one);
    // Still in the queue, so it was woken by the signal.
    if (at >= 0) {
      queues[name].splice(at, 1);
      throw unavailable("tooManyRequests");
    }
  }

  return {
    /**
     * Waits for a place. Returns a function that leaves it. Throws `unavailable` if too many wait, or if
     * the signal is aborted first.
     */
    async enter(visitor: Visitor, signal: AbortSignal): Promise<() => void> {
      if (mayEnter(visitor)) taken.push(visitor);
      else await wait(visitor, signal);
      return () => {
        taken.splice(taken.indexOf(visitor), 1);
        letIn();
      };
    },
  };
}

function countOf(visitors: readonly Visitor[], keyId: string): number {
  return visitors.filter((visitor) => visitor.keyId === keyId).length;
}
