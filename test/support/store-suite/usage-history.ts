import { describe, expect, test } from "bun:test";
import {
  allKeys,
  prunedMax,
  startOf,
  toPoints,
  withoutKey,
} from "../../../src/domain/usage/usage-history.ts";
import { testStart } from "../clock.ts";
import type { StoreSuite } from "./suite.ts";

const minuteMs = 60_000;

export function describeUsageHistory(suite: StoreSuite): void {
  const countsOf = (keyId: string, at: number, admitted: number, refused = 0) =>
    toPoints([{ keyId, start: at, admitted, refused }]);

  describe("usage over time", () => {
    test("adds up, also what two instances add at the same moment", async () => {
      const other = await suite.place.open();
      const stores = [suite.store, other];
      // SQLite has one serving process, and rejects a write while another one writes.
      const add = async (at: number) => {
        for (;;) {
          try {
            return await stores[at % 2]!.usageHistory.addCounts(countsOf("key_a", testStart, 1, 2));
          } catch {
            await new Promise(setImmediate);
          }
        }
      };
      await Promise.all(Array.from({ length: 24 }, (_, at) => add(at)));
      for (const keyId of ["key_a", allKeys]) {
        for (const step of ["minute", "day"] as const) {
          expect(await suite.store.usageHistory.readCounts(keyId, step, 0)).toEqual([
            { keyId, step, start: startOf(step, testStart), admitted: 24, refused: 48 },
          ]);
        }
      }
      await suite.expectSound();
    });

    test("has the counts of one key from a time on, in order, until they are removed", async () => {
      const { addCounts, readCounts, pruneCounts } = suite.store.usageHistory;
      for (const at of [testStart, testStart + minuteMs, testStart - minuteMs]) {
        await addCounts(countsOf("key_a", at, 1));
      }
      await addCounts(countsOf(withoutKey, testStart, 5));
      const start = startOf("minute", testStart);
      const starts = async (from: number) =>
        (await readCounts("key_a", "minute", from)).map((point) => point.start - start);
      expect(await starts(0)).toEqual([-minuteMs, 0, minuteMs]);
      expect(await starts(start)).toEqual([0, minuteMs]);
      expect(await readCounts(allKeys, "minute", 0)).toHaveLength(3);
      expect(await readCounts(withoutKey, "minute", 0)).toHaveLength(1);
      expect(await pruneCounts("minute", start)).toBe(2);
      expect(await pruneCounts("minute", start)).toBe(0);
      expect(await starts(0)).toEqual([0, minuteMs]);
      expect(await readCounts("key_a", "day", 0)).toHaveLength(1);
      await pruneCounts("day", testStart);
      expect(await readCounts("key_a", "day", 0)).toEqual([]);
      await suite.expectSound();
    });

    test("is removed a part at a time", async () => {
      const { addCounts, pruneCounts } = suite.store.usageHistory;
      const counts = Array.from({ length: prunedMax + 1 }, (_, minute) => ({
        keyId: withoutKey,
        start: testStart + minute * minuteMs,
        admitted: 1,
        refused: 0,
      }));
      await addCounts(toPoints(counts));
      const end = testStart + counts.length * minuteMs;
      const removed = [];
      for (let call = 0; call < 3; call++) removed.push(await pruneCounts("minute", end));
      expect(removed).toEqual([prunedMax, 1, 0]);
    });
  });
}
