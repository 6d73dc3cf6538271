import { setTimeout as sleep } from "node:timers/promises";
import { yieldToEventLoop } from "../event-loop.ts";

/**
 * Limits how much of the event loop all deliveries together take, however many webhooks there are
 * and however far they are behind. Updates stay fast, and the deliveries take longer.
 */
export interface Pace {
  /** Waits until the deliveries may work again. Callers continue one after the other. */
  turn(): Promise<void>;
  /** Counts time that a delivery has taken. */
  spend(ms: number): void;
}

/** The deliveries take a fifth of the time at most. */
const pauseFactor = 4;

export function createPace(monotonicMs: () => number): Pace {
  let restUntil = 0;
  let lastTurn: Promise<void> = Promise.resolve();

  async function wait(): Promise<void> {
    await yieldToEventLoop();
    const restMs = restUntil - monotonicMs();
    // Timers count whole milliseconds. A shorter rest adds to the next one.
    if (restMs >= 1) await sleep(restMs, undefined, { ref: false });
  }

  return {
    turn() {
      lastTurn = lastTurn.then(wait);
      return lastTurn;
    },
    spend(ms) {
      restUntil = Math.max(restUntil, monotonicMs()) + ms * pauseFactor;
    },
  };
}
