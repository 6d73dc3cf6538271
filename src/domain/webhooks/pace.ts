import { setTimeout as sleep } from "node:timers/promises";
import { measureChangeRate } from "../ledger/change-rate.ts";
import { yieldToEventLoop } from "../running/background.ts";

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

/** The pause after work, as a multiple of the time it took: the deliveries have a third of the time. */
const pauseFactor = 2;

/** While many changes are committed, the deliveries have a tenth of the time. */
const busyPauseFactor = 9;
const busyChangesPerSecond = 1_500;

/** `lastSeq` returns the last row of the ledger. */
export function createPace(monotonicMs: () => number, lastSeq: () => number): Pace {
  const changesPerSecond = measureChangeRate(monotonicMs, lastSeq);
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
      const isBusy = changesPerSecond() > busyChangesPerSecond;
      const factor = isBusy ? busyPauseFactor : pauseFactor;
      restUntil = Math.max(restUntil, monotonicMs()) + ms * factor;
    },
  };
}
