import type { Clock } from "../../src/domain/running/clock.ts";

/** A clock that moves only when the test moves it, in either direction. */
export interface TestClock extends Clock {
  /** Lets time pass, or sets the clock back. */
  advance(ms: number): void;
  /** Lets time pass until then, or sets the clock back. */
  set(time: number): void;
  /** Sets the clock forward or back. No time passes. */
  jump(ms: number): void;
}

/** The start of a UTC minute in the middle of a day, so that tests begin far from a window's edge. */
export const testStart = Date.UTC(2026, 10, 15, 12, 0, 0);

export function createTestClock(start = testStart): TestClock {
  let time = start;
  let elapsedMs = 0;
  function advance(ms: number): void {
    time += ms;
    elapsedMs += Math.max(0, ms);
  }
  return {
    now: () => time,
    elapsedMs: () => elapsedMs,
    advance,
    set: (to) => advance(to - time),
    jump(ms) {
      time += ms;
    },
  };
}

/** A clock that runs, for tests in which a browser must know the time of the service. */
export function createRunningClock(): TestClock {
  const clock = createTestClock();
  const startedAt = performance.now();
  const passedMs = () => Math.floor(performance.now() - startedAt);
  return {
    ...clock,
    now: () => clock.now() + passedMs(),
    elapsedMs: () => clock.elapsedMs() + passedMs(),
  };
}
