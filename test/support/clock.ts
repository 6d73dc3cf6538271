import type { Clock } from "../../src/domain/ports.ts";

/** A clock that moves only when the test moves it, in either direction. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  set(time: number): void;
}

/** The start of a UTC minute in the middle of a day, so that tests begin far from a window's edge. */
export const testStart = Date.UTC(2026, 10, 15, 12, 0, 0);

export function createTestClock(start = testStart): TestClock {
  let time = start;
  return {
    now: () => time,
    advance(ms) {
      time += ms;
    },
    set(to) {
      time = to;
    },
  };
}
