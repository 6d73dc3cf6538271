import { expect, test } from "bun:test";
import { groupBars } from "../../src/console/charts/groups.ts";
import { timeTicks, valueTicks } from "../../src/console/charts/scales.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

test("the ticks of values start at 0, reach the largest value, and are few whole numbers", () => {
  for (const max of [0, 1, 3, 4, 5, 7, 99, 100, 101, 12_345, Number.MAX_SAFE_INTEGER]) {
    const ticks = valueTicks(max);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(max);
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(ticks.every(Number.isInteger)).toBe(true);
  }
  expect(valueTicks(7)).toEqual([0, 2, 4, 6, 8]);
});

test("the ticks of times are round, in order and inside the range, from seconds to decades", () => {
  const from = Date.UTC(2026, 10, 16, 7, 13, 27);
  for (const range of [
    1_000,
    40_000,
    55 * minuteMs,
    dayMs,
    20 * dayMs,
    396 * dayMs,
    9_000 * dayMs,
  ]) {
    for (const isUtc of [true, false]) {
      const ticks = timeTicks(from, from + range, 8, isUtc);
      expect(ticks.length).toBeLessThanOrEqual(9);
      expect(ticks.every(({ at }) => at >= from && at <= from + range)).toBe(true);
      expect(ticks.map(({ at }) => at)).toEqual(ticks.map(({ at }) => at).sort((a, b) => a - b));
    }
  }
  const days = timeTicks(from, from + 396 * dayMs, 8, true).map(({ at }) => new Date(at));
  expect(days.map((day) => day.toISOString())).toEqual([
    "2027-01-01T00:00:00.000Z",
    "2027-03-01T00:00:00.000Z",
    "2027-05-01T00:00:00.000Z",
    "2027-07-01T00:00:00.000Z",
    "2027-09-01T00:00:00.000Z",
    "2027-11-01T00:00:00.000Z",
  ]);
});

test("bars add up to the values that they stand for, and start at round times", () => {
  const from = Date.UTC(2026, 10, 16, 7, 13);
  const values = Array.from({ length: 1_440 }, (_, minute) => minute % 7);
  const series = [{ name: "accepted", color: 1, values }] as const;
  for (const barsMax of [1, 30, 100, 300, 2_000]) {
    const bars = groupBars({ from, stepMs: minuteMs, series }, barsMax);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
    expect(sum(bars.sums[0]!)).toBe(sum(values));
    expect(bars.from % bars.stepMs).toBe(0);
    expect(bars.count).toBeLessThanOrEqual(Math.max(2, barsMax + 1));
    expect(bars.max).toBe(Math.max(...bars.sums[0]!));
  }
});
