import { describe, expect, test } from "bun:test";
import { quantityMax } from "../../../src/domain/ledger/inventory.ts";
import {
  firstPaceDay,
  followSales,
  paceDays,
  salesRowsMax,
} from "../../../src/domain/sales/sales.ts";
import type { Store } from "../../../src/domain/store.ts";
import { dayMs } from "../../../src/domain/values/times.ts";
import { testStart } from "../clock.ts";
import { setUnit, unitOf } from "../units.ts";
import { until } from "../until.ts";
import type { StoreSuite } from "./suite.ts";

export function describeSales(suite: StoreSuite): void {
  /** SQLite has one serving process, and rejects a write while another one writes. */
  async function catchUp(store: Store): Promise<void> {
    const task = followSales(
      store,
      () => 0,
      () => {},
    );
    const isDone = () =>
      task.catchUp().then(
        () => true,
        () => false,
      );
    // Ends work that makes no progress, so that the expectations fail.
    const late = setTimeout(task.stop, 60_000);
    await until(isDone, 20_000, "the sums of the sales").finally(task.stop);
    clearTimeout(late);
  }

  async function sold(time: number): Promise<Record<string, number>> {
    const found = await suite.store.sales.soldAfter(null, firstPaceDay(time), 10);
    return Object.fromEntries(found.map(({ petId, value }) => [String(petId), value]));
  }

  const commit = (petId: bigint, quantity: number, cause: "api" | "console" = "api") =>
    suite.store.inventory.commit([
      setUnit(petId, quantity, { cause, keyId: "key_a", requestId: "req_sale" }),
    ]);

  describe("sales", () => {
    test("are exact, also if two processes add up the rows and one starts again", async () => {
      await suite.add({ petId: 1n, quantity: 5_000 }, { petId: 2n, quantity: 10 }, { petId: 3n });
      const other = await suite.place.open();
      const changes = Array.from({ length: 1_000 }, () => ({
        petId: 1n,
        kind: "add" as const,
        amount: -1,
      }));
      // More rows than one transaction adds.
      for (const _ of [1, 2, 3]) await suite.store.inventory.commit([unitOf(...changes)]);
      await commit(2n, 8);
      await commit(2n, 20);
      await commit(2n, 15, "console");
      await commit(2n, 15);
      await suite.add({ petId: 1n, quantity: 1 });
      await Promise.all([catchUp(suite.store), catchUp(other)]);
      const seq = (await suite.store.inventory.readHead()).seq;
      expect(await suite.store.sales.readSalesSeq()).toBe(seq);
      expect(await sold(testStart)).toEqual({ 1: 3_000, 2: 2 });
      suite.store = await suite.place.open();
      await catchUp(suite.store);
      await commit(2n, 14);
      await catchUp(suite.store);
      expect(await sold(testStart)).toEqual({ 1: 3_000, 2: 3 });
      const after = await suite.store.sales.soldAfter(1n, firstPaceDay(testStart), 10);
      expect(after).toEqual([{ petId: 2n, value: 3 }]);
      await suite.expectSound();
    });

    test("are summed per UTC day, and older ones are forgotten", async () => {
      await suite.add({ petId: 1n, quantity: 100 });
      const midnight = testStart - (testStart % dayMs) + dayMs;
      suite.clock.set(midnight - 1);
      await commit(1n, 99);
      suite.clock.set(midnight);
      await commit(1n, 97);
      await catchUp(suite.store);
      const last = midnight + (paceDays - 1) * dayMs;
      expect(await sold(midnight)).toEqual({ 1: 3 });
      expect(await sold(last - 1)).toEqual({ 1: 3 });
      expect(await sold(last)).toEqual({ 1: 2 });
      expect(await sold(last + dayMs)).toEqual({});
      // The row of the first day is removed once the ledger has rows of a later time.
      suite.clock.set(last);
      await commit(1n, 93);
      await catchUp(suite.store);
      expect(await sold(midnight - 1)).toEqual({ 1: 6 });
    });

    test("survive a clock that was ahead, and rows of long ago are not read", async () => {
      await suite.add({ petId: 1n, quantity: 100 });
      await commit(1n, 90);
      suite.clock.jump(400 * dayMs);
      await catchUp(suite.store);
      suite.clock.jump(-400 * dayMs);
      expect(await sold(testStart)).toEqual({ 1: 10 });
      suite.clock.jump(400 * dayMs);
      await commit(1n, 80);
      suite.clock.jump(-400 * dayMs);
      // The time of the ledger does not go back.
      await commit(1n, 77);
      await catchUp(suite.store);
      expect(await sold(testStart + 400 * dayMs)).toEqual({ 1: 13 });
      expect(await sold(testStart)).toEqual({ 1: 13 });
    });

    test("stay in range if a hostile client sells the largest quantity again and again", async () => {
      await suite.add({ petId: 1n, quantity: quantityMax });
      const pair = [0, quantityMax].map((amount) => ({ petId: 1n, amount }));
      const changes = Array.from({ length: salesRowsMax }, () => pair).flat();
      for (const _ of [1, 2, 3]) await suite.store.inventory.commit([unitOf(...changes)]);
      await catchUp(suite.store);
      expect(await sold(testStart)).toEqual({ 1: quantityMax });
    });
  });
}
