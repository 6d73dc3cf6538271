import { describe, expect, test } from "bun:test";
import { retryDelayMs } from "../../src/domain/webhooks/retries.ts";

const hourMs = 3_600_000;

describe("the delay before the next attempt", () => {
  test("is anything below a bound that doubles from 5 s to 4 h", () => {
    const almostOne = () => 1 - Number.EPSILON;
    const bounds = [1, 2, 3, 12, 13, 50, 5_000].map((n) => retryDelayMs(n, null, almostOne));
    expect(bounds).toEqual([5_000, 10_000, 20_000, 10_240_000, 4, 4, 4].map(orHours));
    expect([1, 5, 50].map((n) => retryDelayMs(n, null, () => 0))).toEqual([0, 0, 0]);
    expect(retryDelayMs(3, null, () => 0.5)).toBe(10_000);
  });

  test("is at least what the receiver asked for, up to a day", () => {
    expect(retryDelayMs(1, 60_000, () => 0.5)).toBe(60_000);
    expect(retryDelayMs(10, 60_000, () => 0.5)).toBe(1_280_000);
    expect(retryDelayMs(1, 30 * 24 * hourMs, () => 0)).toBe(24 * hourMs);
  });

  const orHours = (value: number) => (value === 4 ? 4 * hourMs : value);
});
