import { expect, test } from "bun:test";
import { createPacer } from "../src/domain/running/pacer.ts";

let now = 0;
let seq = 0;
const startPacer = (monotonicMs = () => now) =>
  createPacer(monotonicMs, () => seq, { idle: 2, busy: 9, countsWaits: false });

async function durationOf(work: Promise<void>): Promise<number> {
  const started = performance.now();
  await work;
  return performance.now() - started;
}

/** Works for 1 ms at a time while rows are added. Returns the shortest of the last rests, in real time. */
async function restMs(changesPerSecond: number): Promise<number> {
  const pacer = startPacer();
  const rests: number[] = [];
  while (rests.length < 150) {
    now += 1;
    seq += changesPerSecond / 1_000;
    pacer.spend(1);
    rests.push(await durationOf(pacer.turn()));
    now += 10;
    seq += changesPerSecond / 100;
  }
  return Math.min(...rests.slice(-48));
}

test("work rests for longer while many changes are committed", async () => {
  expect(await restMs(5_000)).toBeGreaterThan(8);
  expect(await restMs(1_000)).toBeLessThan(8);
});

test("callers continue one after the other, each after the rest for the work before it", async () => {
  const pacer = startPacer(() => performance.now());
  const order: number[] = [];
  const started = performance.now();
  await Promise.all(
    [1, 2, 3, 4].map(async (id) => {
      await pacer.turn();
      order.push(id);
      pacer.spend(10);
    }),
  );
  await pacer.turn();
  expect(performance.now() - started).toBeGreaterThanOrEqual(79);
  expect(order).toEqual([1, 2, 3, 4]);
});

test("a slice is over after half a millisecond of work, however long the caller waits between", () => {
  const pacer = startPacer();
  expect(pacer.spend(0.3)).toBe(false);
  now += 60_000;
  expect(pacer.spend(0.2)).toBe(false);
  expect(pacer.spend(0.1)).toBe(true);
});

test("time in which nobody works counts as rest, and shortens no later rest", async () => {
  const pacer = startPacer();
  pacer.spend(1_000_000);
  now += 9_000_000;
  expect(await durationOf(pacer.turn())).toBeLessThan(60_000);
  pacer.spend(20);
  expect(await durationOf(pacer.turn())).toBeGreaterThanOrEqual(39);
});

test("a turn lasts as long as its caller asks for", async () => {
  expect(await durationOf(startPacer().turn(30))).toBeGreaterThanOrEqual(29);
});
