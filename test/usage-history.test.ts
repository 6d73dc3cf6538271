import { describe, expect, test } from "bun:test";
import { ServiceError, unavailable } from "../src/domain/running/errors.ts";
import {
  allKeys,
  oldestKept,
  seriesStart,
  startOf,
  toPoints,
  toSeries,
  type UsageHistoryStore,
  type UsagePoint,
  withoutKey,
} from "../src/domain/usage/usage-history.ts";
import { createUsageRecorder } from "../src/domain/usage/usage-recorder.ts";
import { createTestClock, testStart } from "./support/clock.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

test("minutes are kept for 25 hours and days for 400 days", () => {
  const time = Date.UTC(2024, 1, 29, 23, 59, 59, 999);
  expect(startOf("minute", time)).toBe(Date.UTC(2024, 1, 29, 23, 59));
  expect(oldestKept("minute", time)).toBe(Date.UTC(2024, 1, 28, 22, 59));
  expect(oldestKept("day", time)).toBe(Date.UTC(2023, 0, 25));
  expect(oldestKept("day", 0)).toBe(0);
});

test("a chart has the counts of its points, the last of which is the current one", () => {
  const now = Date.UTC(2026, 10, 16, 8, 30, 12);
  const counts = [
    { keyId: "key_a", start: now, admitted: 3, refused: 1 },
    { keyId: "key_a", start: now - 1_439 * minuteMs, admitted: 5, refused: 0 },
    { keyId: "key_a", start: now - 1_440 * minuteMs, admitted: 7, refused: 0 },
    { keyId: "key_a", start: now - 395 * dayMs, admitted: 9, refused: 2 },
    { keyId: withoutKey, start: now, admitted: 20, refused: 4 },
  ];
  const points = toPoints(counts);
  const chart = (keyId: string, step: "minute" | "day") => {
    const from = seriesStart(step, now);
    const read = points.filter(
      (point) => point.keyId === keyId && point.step === step && point.start >= from,
    );
    const { admitted, refused, from: first } = toSeries(read, step, now);
    const filled = admitted.flatMap((one, at) =>
      one + refused[at]! ? [[at, one, refused[at]]] : [],
    );
    return { first, points: admitted.length, filled };
  };
  expect(chart("key_a", "minute")).toEqual({
    first: Date.UTC(2026, 10, 15, 8, 31),
    points: 1_440,
    filled: [
      [0, 5, 0],
      [1_439, 3, 1],
    ],
  });
  expect(chart(allKeys, "day")).toEqual({
    first: Date.UTC(2025, 9, 17),
    points: 396,
    filled: [
      [0, 9, 2],
      [394, 12, 0],
      [395, 3, 1],
    ],
  });
  expect(chart(withoutKey, "minute").filled).toEqual([[1_439, 20, 4]]);
});

/** Keeps counts in memory, and fails while `failure` is set. */
function createMemory() {
  const points: UsagePoint[] = [];
  let failure: unknown;
  const store: UsageHistoryStore = {
    async addCounts(added) {
      if (failure) throw failure;
      points.push(...added);
    },
    readCounts: async (keyId, step, from) =>
      points.filter((one) => one.keyId === keyId && one.step === step && one.start >= from),
    pruneCounts: async () => 0,
  };
  return {
    store,
    fail: (error: unknown) => {
      failure = error;
    },
  };
}

describe("the recorder", () => {
  const total = async (recorder: ReturnType<typeof createUsageRecorder>, keyId: string) => {
    const { admitted, refused } = await recorder.chart(keyId, "day", testStart);
    const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
    return [sum(admitted), sum(refused)];
  };

  test("shows what it has counted at once, and keeps it while the store cannot be written", async () => {
    const memory = createMemory();
    const clock = createTestClock();
    const recorder = createUsageRecorder(memory.store, clock, () => {});
    const [admitted, limited] = [
      { outcome: "admitted", now: testStart },
      { outcome: "limited", now: testStart },
    ] as const;
    for (let at = 0; at < 250; at++) recorder.count(`key_${at}`, admitted);
    recorder.count("key_1", limited);
    recorder.count(undefined, limited);
    expect(await total(recorder, "key_1")).toEqual([1, 1]);
    memory.fail(unavailable("busy"));
    await expect(recorder.save()).rejects.toBeInstanceOf(ServiceError);
    recorder.count("key_1", { outcome: "banned", now: testStart });
    expect(await total(recorder, "key_1")).toEqual([1, 2]);
    memory.fail(undefined);
    await recorder.save();
    expect(await total(recorder, "key_1")).toEqual([1, 2]);
    expect(await total(recorder, allKeys)).toEqual([250, 2]);
    expect(await total(recorder, withoutKey)).toEqual([0, 1]);
    await recorder.stop();
  });

  test("counts a request once in a chart that is read while counts are saved", async () => {
    const { store } = createMemory();
    const reading = { begin: () => {} };
    const slow: UsageHistoryStore = {
      ...store,
      async readCounts(...query) {
        reading.begin();
        // A save that can begin does begin before the rows are read.
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
        return store.readCounts(...query);
      },
    };
    const recorder = createUsageRecorder(slow, createTestClock(), () => {});
    recorder.count("key_1", { outcome: "admitted", now: testStart });
    const saved = new Promise<void>((resolve) => {
      reading.begin = () => {
        reading.begin = () => {};
        recorder.save().then(resolve);
      };
    });
    expect(await total(recorder, "key_1")).toEqual([1, 0]);
    await saved;
    expect(await total(recorder, "key_1")).toEqual([1, 0]);
    await recorder.stop();
  });

  test("counts in the minute of the decision, also when the clock jumps", async () => {
    const memory = createMemory();
    const recorder = createUsageRecorder(memory.store, createTestClock(), () => {});
    for (const now of [testStart, testStart + 3 * minuteMs, testStart - minuteMs, -5, 0]) {
      recorder.count("key_a", { outcome: "admitted", now });
    }
    const { admitted } = await recorder.chart("key_a", "minute", testStart + 3 * minuteMs);
    expect(admitted.flatMap((one, at) => (one ? [[at, one]] : []))).toEqual([
      [1_435, 1],
      [1_436, 1],
      [1_439, 1],
    ]);
    await recorder.stop();
    const rows = await memory.store.readCounts("key_a", "minute", 0);
    expect(rows.map(({ start }) => start).sort()).toContain(0);
  });
});
