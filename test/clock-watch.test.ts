import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { expiredBefore } from "../src/domain/ledger/idempotency-keeping.ts";
import { createClockWatch, watchClock } from "../src/domain/usage/clock-watch.ts";
import { dayMs } from "../src/domain/values/times.ts";
import { createTestClock, testStart } from "./support/clock.ts";
import { runs } from "./support/properties/runs.ts";

const periodMs = 7 * dayMs;

function watched(lastKnown = testStart) {
  const logged: unknown[] = [];
  const log = (event: string, details?: object) => void logged.push({ event, ...details });
  const clock = createTestClock();
  const watch = createClockWatch({ name: "service", periodMs, lastKnown, log });
  const observe = () => watch.observe(clock.now(), clock.elapsedMs());
  observe();
  return { clock, watch, logged, observe };
}

describe("the period", () => {
  test("is as long as usual while the clock does not jump", () => {
    const { clock, watch, observe } = watched();
    for (let day = 0; day < 20; day++) {
      clock.advance(dayMs);
      observe();
      expect(watch.reachMs()).toBe(periodMs);
    }
  });

  test("does not include what the clock skipped, until the jump is a period ago", () => {
    const { clock, watch, observe } = watched();
    clock.jump(9 * dayMs);
    observe();
    expect(watch.reachMs()).toBe(periodMs + 9 * dayMs);
    clock.advance(periodMs - 1);
    observe();
    expect(watch.reachMs()).toBe(periodMs + 9 * dayMs);
    clock.advance(1);
    observe();
    expect(watch.reachMs()).toBe(periodMs);
  });

  test("does not include the time before a start, because the clock may have jumped then", () => {
    expect(watched(testStart - 3 * dayMs).watch.reachMs()).toBe(periodMs + 3 * dayMs);
    expect(watched(testStart + 3 * dayMs).watch.reachMs()).toBe(periodMs);
  });

  test("is as long as usual after the clock jumped and went back", () => {
    const { clock, watch, observe } = watched();
    clock.jump(411 * dayMs);
    observe();
    clock.jump(-411 * dayMs);
    observe();
    expect(watch.reachMs()).toBe(periodMs);
  });

  test("includes every moment that is younger by the time that passed, for any jumps", () => {
    const jumps = fc.integer({ min: -20 * dayMs, max: 20 * dayMs });
    const waits = fc.integer({ min: 0, max: 3 * dayMs });
    fc.assert(
      fc.property(fc.array(fc.tuple(waits, jumps), { maxLength: 20 }), (steps) => {
        const { clock, watch, observe } = watched();
        const stored: { at: number; elapsedMs: number }[] = [];
        let ledgerAt = 0;
        for (const [waitMs, jumpMs] of steps) {
          // A row's time never decreases, as in the ledger.
          ledgerAt = Math.max(ledgerAt, clock.now());
          stored.push({ at: ledgerAt, elapsedMs: clock.elapsedMs() });
          clock.advance(waitMs);
          observe();
          clock.jump(jumpMs);
          observe();
          const oldest = clock.now() - watch.reachMs();
          for (const { at, elapsedMs } of stored) {
            if (clock.elapsedMs() - elapsedMs < periodMs - steps.length * 10_000) {
              expect(at).toBeGreaterThanOrEqual(oldest);
            }
          }
        }
      }),
      runs(300),
    );
  });
});

test("each jump is logged once, and steps of up to ten seconds are not", () => {
  const { clock, observe, logged } = watched();
  for (const ms of [10_000, -10_000]) {
    clock.jump(ms);
    observe();
  }
  expect(logged).toEqual([]);
  clock.jump(9 * dayMs);
  for (let tick = 0; tick < 5; tick++) {
    observe();
    clock.advance(1_000);
  }
  clock.jump(-3_600_000);
  observe();
  observe();
  expect(logged).toEqual([
    { event: "clock jumped", clock: "service", byMs: 9 * dayMs },
    { event: "clock jumped", clock: "service", byMs: -3_600_000 },
  ]);
});

test("times are whole milliseconds, although the clock that never jumps is finer", () => {
  const { watch, logged } = watched();
  watch.observe(testStart + dayMs, 1.75);
  expect(watch.reachMs()).toBe(periodMs + dayMs - 1);
  expect(logged).toEqual([{ event: "clock jumped", clock: "service", byMs: dayMs - 1 }]);
});

test("a jump counts before the next observation", () => {
  const clock = createTestClock();
  const options = { name: "service", periodMs, lastKnown: testStart, log: () => {} };
  const watch = watchClock(clock, options);
  clock.jump(9 * dayMs);
  expect(watch.reachMs()).toBe(periodMs + 9 * dayMs);
  watch.stop();
});

test("keys are deleted only if they are old by the clock and by the ledger's time", () => {
  const hourMs = 3_600_000;
  const [now, at] = [testStart + 9 * dayMs, testStart];
  expect(expiredBefore(now, { at }, periodMs)).toBe(at - periodMs - hourMs);
  expect(expiredBefore(at, { at: now }, periodMs)).toBe(at - periodMs - hourMs);
});
