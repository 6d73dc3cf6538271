import { setTimeout as sleep } from "node:timers/promises";

/**
 * Limits how much of the event loop the feed takes: long work is cut into slices, and after a round
 * the feed pauses for a multiple of the time that the round took. When thousands of streams or
 * changes come together, events are later and bundled, and updates stay fast.
 */
export interface Pacer {
  /** Begins a round. */
  begin(): void;
  /** True if the event loop should have a turn. */
  isSliceOver(): boolean;
  /** Waits without counting the time, and begins a new slice. */
  wait<T>(work: Promise<T>): Promise<T>;
  /** Ends a round. */
  end(): void;
  /** Waits until the next round may begin. */
  pause(): Promise<void>;
}

const sliceMs = 4;
/** The feed takes a fifth of the time at most. */
const pauseFactor = 4;
/** Changes that come within this time are sent together. */
const pauseMsMin = 5;

export function createPacer(monotonicMs: () => number): Pacer {
  let sliceStart = 0;
  let busyMs = 0;
  return {
    begin() {
      busyMs = 0;
      sliceStart = monotonicMs();
    },
    isSliceOver: () => monotonicMs() - sliceStart > sliceMs,
    async wait(work) {
      busyMs += monotonicMs() - sliceStart;
      try {
        return await work;
      } finally {
        sliceStart = monotonicMs();
      }
    },
    end() {
      busyMs += monotonicMs() - sliceStart;
    },
    pause: () => sleep(Math.max(pauseMsMin, busyMs * pauseFactor)),
  };
}
