import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ServiceError, unavailable } from "../src/domain/running/errors.ts";
import {
  allKeys,
  emptyCounts,
  mergeCounts,
  oldestKept,
  packCounts,
  rowsForSeries,
  type Span,
  type SpanCounts,
  slotAt,
  slotsOf,
  toSeries,
  toSpanCounts,
  type UsageHistoryStore,
  unpackCounts,
  withoutKey,
} from "../src/domain/usage/usage-history.ts";
import { createUsageRecorder } from "../src/domain/usage/usage-recorder.ts";
import { createTestClock, testStart } from "./support/clock.ts";
import { runs } from "./support/properties/runs.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

const count = fc.oneof(fc.constantFrom(0, 1, 127, 128, Number.MAX_SAFE_INTEGER), fc.nat(100_000));
const packed = fc.constantFrom<Span>("hour", "month").chain((span) =>
  fc.record({
    span: fc.constant(span),
    admitted: fc.array(count, { minLength: slotsOf[span], maxLength: slotsOf[span] }),
    refused: fc.array(count, { minLength: slotsOf[span], maxLength: slotsOf[span] }),
  }),
);

describe("packed counts", () => {
  test("are read as they were written, and adding nothing changes nothing", () => {
    fc.assert(
      fc.property(packed, ({ span, admitted, refused }) => {
        const bytes = packCounts({ admitted, refused });
        expect(unpackCounts(bytes, span)).toEqual({ admitted, refused });
        expect(mergeCounts(bytes, span, emptyCounts(span))).toEqual(bytes);
      }),
      runs(200),
    );
  });

  test("of a busy hour take less than 300 bytes, and of an idle one none", () => {
    const busy = { admitted: Array(60).fill(2_500), refused: Array(60).fill(90) };
    expect(packCounts(busy).length).toBe(240);
    const month = { admitted: Array(31).fill(3_600_000), refused: Array(31).fill(0) };
    expect(packCounts(month).length).toBe(31 * 6);
    expect(packCounts(emptyCounts("hour")).length).toBe(0);
  });

  test("never exceed what a number holds, and any bytes are read or refused", () => {
    const full = emptyCounts("hour");
    full.admitted[3] = Number.MAX_SAFE_INTEGER;
    const merged = mergeCounts(packCounts(full), "hour", full);
    expect(unpackCounts(merged, "hour")?.admitted[3]).toBe(Number.MAX_SAFE_INTEGER);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const counts = unpackCounts(bytes, "hour");
        if (counts) expect(unpackCounts(packCounts(counts), "hour")).toEqual(counts);
        expect(unpackCounts(mergeCounts(bytes, "hour", full), "hour")).toBeDefined();
      }),
      runs(300),
    );
    for (const bytes of [[0], [0, 1], [60, 1, 1], [0, 1, 128], Array(9).fill(255)]) {
      expect(unpackCounts(Uint8Array.from(bytes), "hour")).toBeUndefined();
    }
  });
});

test("a minute belongs to the UTC hour and to the day of the UTC month", () => {
  const time = Date.UTC(2024, 1, 29, 23, 59, 59, 999);
  expect(slotAt("hour", time)).toEqual({ start: Date.UTC(2024, 1, 29, 23), slot: 59 });
  expect(slotAt("month", time)).toEqual({ start: Date.UTC(2024, 1, 1), slot: 28 });
  expect(oldestKept(time)).toEqual({
    hour: Date.UTC(2024, 1, 28, 22),
    month: Date.UTC(2023, 0, 1),
  });
  expect(oldestKept(0)).toEqual({ hour: 0, month: 0 });
});

test("a chart has the counts of its points, the last of which is the current one", () => {
  const now = Date.UTC(2026, 10, 16, 8, 30, 12);
  const counts = [
    { keyId: "key_a", at: now, admitted: 3, refused: 1 },
    { keyId: "key_a", at: now - 1_439 * minuteMs, admitted: 5, refused: 0 },
    { keyId: "key_a", at: now - 1_440 * minuteMs, admitted: 7, refused: 0 },
    { keyId: "key_a", at: now - 395 * dayMs, admitted: 9, refused: 2 },
    { keyId: withoutKey, at: now, admitted: 20, refused: 4 },
  ];
  const rows = toSpanCounts(counts);
  const chart = (keyId: string, step: "minute" | "day") => {
    const { span, from } = rowsForSeries(step, now);
    const read = rows.filter(
      (row) => row.keyId === keyId && row.span === span && row.start >= from,
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

/** Keeps rows in memory, and fails while `failure` is set. */
function createMemory() {
  const rows: SpanCounts[] = [];
  let failure: unknown;
  const store: UsageHistoryStore = {
    async addCounts(added) {
      if (failure) throw failure;
      rows.push(...added);
    },
    readCounts: async (keyId, span, from) =>
      rows.filter((row) => row.keyId === keyId && row.span === span && row.start >= from),
    async pruneCounts() {},
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
    const rows = await memory.store.readCounts("key_a", "hour", 0);
    expect(rows.map(({ start }) => start).sort()).toContain(0);
  });
});
