import { describe, expect, test } from "bun:test";
import {
  allKeys,
  slotAt,
  toSpanCounts,
  withoutKey,
} from "../../../src/domain/usage/usage-history.ts";
import { testStart } from "../clock.ts";
import type { StoreSuite } from "./suite.ts";

const hourMs = 3_600_000;

export function describeUsageHistory(suite: StoreSuite): void {
  const countsOf = (keyId: string, at: number, admitted: number, refused = 0) =>
    toSpanCounts([{ keyId, at, admitted, refused }]);

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
        const [hour] = await suite.store.usageHistory.readCounts(keyId, "hour", 0);
        const { slot } = slotAt("hour", testStart);
        expect([hour?.counts.admitted[slot], hour?.counts.refused[slot]]).toEqual([24, 48]);
        const [month] = await suite.store.usageHistory.readCounts(keyId, "month", 0);
        expect(month?.counts.admitted.reduce((sum, one) => sum + one)).toBe(24);
      }
      await suite.expectSound();
    });

    test("has the rows of one key from a time on, in order, until they are removed", async () => {
      const { addCounts, readCounts, pruneCounts } = suite.store.usageHistory;
      for (const at of [testStart, testStart + hourMs, testStart - hourMs]) {
        await addCounts(countsOf("key_a", at, 1));
      }
      await addCounts(countsOf(withoutKey, testStart, 5));
      const { start } = slotAt("hour", testStart);
      const starts = async (from: number) =>
        (await readCounts("key_a", "hour", from)).map((row) => row.start - start);
      expect(await starts(0)).toEqual([-hourMs, 0, hourMs]);
      expect(await starts(start)).toEqual([0, hourMs]);
      expect(await readCounts(allKeys, "hour", 0)).toHaveLength(3);
      expect(await readCounts(withoutKey, "hour", 0)).toHaveLength(1);
      await pruneCounts(start, 0);
      expect(await starts(0)).toEqual([0, hourMs]);
      expect(await readCounts("key_a", "month", 0)).toHaveLength(1);
      await pruneCounts(start, testStart);
      expect(await readCounts("key_a", "month", 0)).toEqual([]);
      await suite.expectSound();
    });
  });
}
