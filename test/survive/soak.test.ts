import { expect, test } from "bun:test";
import { createRandom } from "../../survive/random.ts";
import { trendOf } from "../../survive/soak/trend.ts";

test("a trend is found in noise, and noise is not taken for a trend", () => {
  const random = createRandom(1);
  const noisy = (perSecond: number) =>
    Array.from({ length: 240 }, (_, at) => ({
      seconds: at * 5,
      value: 100 + perSecond * at * 5 + 30 * random.fraction() + (random.chance(0.05) ? 200 : 0),
    }));
  expect(Math.abs(trendOf(noisy(0)).riseMin)).toBeLessThan(10);
  const rising = trendOf(noisy(0.05));
  expect(rising.riseMin).toBeGreaterThan(45);
  expect(rising.perHour).toBeWithin(150, 210);
});
