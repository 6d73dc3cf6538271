import { setTimeout as sleep } from "node:timers/promises";
import { measureChangeRate } from "../../domain/ledger/change-rate.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";

/**
 * Limits how much of the event loop the feed takes. Its work is cut into slices, and other work runs
 * between them. The feed takes most of the time of a service that has little else to do. While the
 * service is busy, the feed pauses after each slice: events are later and bundled, and updates stay
 * fast.
 */
export interface Pacer {
  /** Begins a slice. */
  begin(): void;
  isSliceOver(): boolean;
  /** Waits without counting the time. */
  wait<T>(work: Promise<T>): Promise<T>;
  /** Ends a slice, lets other work run, for `pauseMsMin` at least, and begins a slice. */
  rest(pauseMsMin?: number): Promise<void>;
}

/** A request waits for the feed about this long at most. */
const sliceMs = 0.5;

/** In a busy service, the feed pauses for this many times as long as a slice took: it gets 6 %. */
const pauseFactorMax = 15;

/** How busy a measured value is: not at all up to `light`, entirely from `heavy` on. */
interface Scale {
  readonly light: number;
  readonly heavy: number;
}

/**
 * Changes per second. They keep the writing thread, the disk and the database server busy, which
 * the event loop does not show.
 */
const changeRate: Scale = { light: 1_500, heavy: 2_500 };

/** How long other work takes after a slice, in slices. Most of it is requests that waited. */
const waitingWork: Scale = { light: 0.3, heavy: 0.7 };

/** The median counts, because a single slice may have waited for a core. */
const slicesMeasured = 15;

/** `lastSeq` returns the last row of the ledger. */
export function createPacer(monotonicMs: () => number, lastSeq: () => number): Pacer {
  let sliceStart = 0;
  const waits = new Float64Array(slicesMeasured).fill(waitingWork.heavy);
  let slices = 0;
  const changesPerSecond = measureChangeRate(monotonicMs, lastSeq);

  /** From 0 to 1. */
  function busyShare(): number {
    const wait = waits.toSorted()[(slicesMeasured - 1) / 2]!;
    return Math.max(shareOf(waitingWork, wait), shareOf(changeRate, changesPerSecond()));
  }

  return {
    begin() {
      sliceStart = monotonicMs();
    },
    isSliceOver: () => monotonicMs() - sliceStart > sliceMs,
    async wait(work) {
      const waitStart = monotonicMs();
      try {
        return await work;
      } finally {
        sliceStart += monotonicMs() - waitStart;
      }
    },
    async rest(pauseMsMin = 0) {
      const sliceEnd = monotonicMs();
      const tookMs = sliceEnd - sliceStart;
      await yieldToEventLoop();
      const now = monotonicMs();
      waits[slices % slicesMeasured] = (now - sliceEnd) / Math.max(tookMs, sliceMs);
      slices += 1;
      const pauseMs = Math.max(pauseMsMin, tookMs * pauseFactorMax * busyShare());
      if (pauseMs > 0) await sleep(Math.ceil(pauseMs));
      sliceStart = monotonicMs();
    },
  };
}

function shareOf({ light, heavy }: Scale, value: number): number {
  return Math.min(1, Math.max(0, (value - light) / (heavy - light)));
}
