import { createAlarm, yieldToEventLoop } from "./background.ts";

/**
 * Limits how much of the event loop long work takes, such as the feed or the deliveries of webhooks. The
 * work is cut into slices, and other work runs between them. While the service is busy, the work pauses
 * longer: it ends later, and updates stay fast.
 */
export interface Pacer {
  /** Counts time that the work has taken. Returns true if the slice is over. Then call `turn`. */
  spend(ms: number): boolean;
  /**
   * Lets other work run, for at least `pauseMsMin`, and for longer if much time was spent. Callers
   * continue one after the other.
   */
  turn(pauseMsMin?: number): Promise<void>;
}

/** The pause after work, as a multiple of the time that it took. */
export interface Pauses {
  /** While the service has little else to do. */
  readonly idle: number;
  readonly busy: number;
  /**
   * Whether the service also counts as busy if other work takes long after a slice. Only for work that
   * calls `turn` right after each slice.
   */
  readonly countsWaits: boolean;
}

/** How long a slice may take. A request may have to wait for one. */
const sliceMs = 0.5;

/** Up to `light`, a measured value means that the service is not busy, and from `heavy` on that it is. */
interface Scale {
  readonly light: number;
  readonly heavy: number;
}

/**
 * Changes per second. They keep the writing thread, the disk and the database server busy, which
 * the event loop does not show.
 */
const changeRate: Scale = { light: 1_500, heavy: 2_500 };
const changeRateWindowMs = 100;

/** How long other work takes after a slice, as a multiple of the slice. Most of it is waiting requests. */
const waitingWork: Scale = { light: 0.3, heavy: 0.7 };

/** Their median counts, because a single slice may have waited for a free processor core. */
const slicesMeasured = 15;

/** `lastSeq` returns the last row of the ledger. */
export function createPacer(
  monotonicMs: () => number,
  lastSeq: () => number,
  { idle, busy, countsWaits }: Pauses,
): Pacer {
  const waits = new Float64Array(slicesMeasured).fill(waitingWork.heavy);
  let slices = 0;
  const changesPerSecond = measureChangeRate(monotonicMs, lastSeq);
  /** The time that was spent since the last turn, and when it ended. */
  let spentMs = 0;
  let spentAt = 0;
  let restUntil = 0;
  let lastTurn: Promise<void> = Promise.resolve();

  /** From 0 to 1. */
  function busyShare(): number {
    const wait = countsWaits ? waits.toSorted()[(slicesMeasured - 1) / 2]! : 0;
    return Math.max(shareOf(waitingWork, wait), shareOf(changeRate, changesPerSecond()));
  }

  async function rest(pauseMsMin: number): Promise<void> {
    const tookMs = spentMs;
    spentMs = 0;
    const sliceEnd = monotonicMs();
    await yieldToEventLoop();
    const now = monotonicMs();
    waits[slices % slicesMeasured] = (now - sliceEnd) / Math.max(tookMs, sliceMs);
    slices += 1;
    const pauseMs = tookMs * (idle + (busy - idle) * busyShare());
    restUntil = Math.max(restUntil, spentAt) + pauseMs;
    const restMs = Math.max(pauseMsMin, restUntil - now);
    // Timers have a resolution of a millisecond. A shorter rest is added to the next one.
    if (restMs >= 1) await createAlarm().wait(restMs);
  }

  return {
    spend(ms) {
      spentMs += ms;
      spentAt = monotonicMs();
      return spentMs > sliceMs;
    },
    turn(pauseMsMin = 0) {
      lastTurn = lastTurn.then(() => rest(pauseMsMin));
      return lastTurn;
    },
  };
}

function shareOf({ light, heavy }: Scale, value: number): number {
  return Math.min(1, Math.max(0, (value - light) / (heavy - light)));
}

/** Returns a function that returns how many rows per second were recently added to the ledger. */
function measureChangeRate(monotonicMs: () => number, lastSeq: () => number): () => number {
  let perSecond = 0;
  let windowStart = { ms: monotonicMs(), seq: lastSeq() };
  return () => {
    const now = monotonicMs();
    const elapsedMs = now - windowStart.ms;
    if (elapsedMs >= changeRateWindowMs) {
      const seq = lastSeq();
      perSecond = ((seq - windowStart.seq) / elapsedMs) * 1_000;
      windowStart = { ms: now, seq };
    }
    return perSecond;
  };
}
