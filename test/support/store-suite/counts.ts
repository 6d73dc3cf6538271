import { describe, expect, test } from "bun:test";
import { digestOf } from "../../../src/domain/keys/keyring.ts";
import { anEntry } from "../audit.ts";
import { storedEntry, unitOf } from "../units.ts";
import { keyNamed, type StoreSuite } from "./suite.ts";

/** Counts that are applied later, and what people have counted so far. */
export function describeCounts(suite: StoreSuite): void {
  const { add, ledger, expectSound } = suite;
  const commit = (...units: ReturnType<typeof unitOf>[]) => suite.store.inventory.commit(units);
  const counted = (petId: bigint, amount: number, seq: number, epoch?: string, time?: number) =>
    ({ petId, kind: "count", amount, countedAt: { seq, epoch, time }, reason: null }) as const;
  const sold = (petId: bigint, amount: number) =>
    ({ petId, kind: "add", amount: -amount }) as const;

  describe("a count", () => {
    test("keeps what changed since, and not what other counts corrected", async () => {
      await add({ petId: 1n, quantity: 10 }, { petId: 2n, quantity: 5 });
      await commit(unitOf(sold(1n, 1)), unitOf(sold(1n, 2), { petId: 1n, amount: 20 }));
      // 8 were there at row 2, when the store had 10: now 18 of the recorded 20.
      const { outcomes } = await commit(
        unitOf(counted(1n, 8, 2)),
        unitOf(sold(1n, 3)),
        unitOf(counted(1n, 7, 3), { petId: 2n, amount: 4 }, counted(2n, 6, 2)),
        unitOf(counted(2n, 0, 2)),
      );
      const quantities = (await ledger()).slice(5).map(({ after }) => after!.quantity);
      expect(quantities).toEqual([18, 15, 15, 4, 5]);
      expect(outcomes.at(-1)).toMatchObject({ kind: "rejected", reason: "out_of_range" });
      await commit(unitOf(counted(1n, 9, 2)));
      expect((await ledger()).at(-1)).toMatchObject({
        after: { quantity: 16 },
        cause: "count",
        keyId: "key_a",
        reason: "Stocktake (counted 9, 7 more since)",
      });
      await expectSound();
    });

    if (!suite.isWhole) return;

    test("is rejected if the ledger cannot tell what changed since, and stores nothing", async () => {
      await add({ petId: 1n, quantity: 10 }, { petId: 2n, quantity: 5 });
      await commit({ ...unitOf(sold(1n, 1)), cause: "undo" });
      const origin = { cause: "console", keyId: null, requestId: null, reason: null } as const;
      await suite.store.catalogue.removePet(2n, undefined, origin);
      await add({ petId: 2n, quantity: 3 });
      const { outcomes } = await commit(
        unitOf(counted(1n, 8, 2)),
        unitOf(counted(1n, 8, 3, "another epoch")),
        unitOf(counted(1n, 8, 99)),
        unitOf(counted(2n, 5, 2)),
        unitOf(counted(2n, 5, 4)),
        unitOf(counted(9n, 5, 2)),
        unitOf(counted(1n, 8, 3)),
      );
      expect(outcomes.map((one) => (one.kind === "rejected" ? one.reason : one.kind))).toEqual([
        "count_outdated",
        "count_outdated",
        "count_outdated",
        "count_outdated",
        "count_outdated",
        "not_found",
        "stored",
      ]);
      expect(await ledger()).toHaveLength(6);
    });

    test("has a limit of rows that it may read, which those of others do not share", async () => {
      await add({ petId: 1n, quantity: 10 }, { petId: 2n, quantity: 8_000 });
      const sale = unitOf(...Array.from({ length: 1_000 }, () => sold(2n, 1)));
      await commit(...Array.from({ length: 7 }, () => sale));
      const { outcomes } = await commit(
        unitOf(counted(2n, 8_000, 2), counted(2n, 8_000, 2), counted(2n, 8_000, 2)),
        ...Array.from({ length: 4 }, () => unitOf(counted(2n, 8_000, 2))),
      );
      expect(outcomes[0]).toMatchObject({ reason: "count_outdated", index: 2 });
      const quantities = outcomes.slice(1).map((one) => storedEntry(one).quantity);
      expect(quantities).toEqual([1_000, 1_000, 1_000, 1_000]);
    });

    test("belongs after all that was stored by its time", async () => {
      await add({ petId: 1n, quantity: 10 });
      const added = (await ledger())[0]!.at;
      suite.clock.advance(1_000);
      await commit(unitOf(sold(1n, 1), sold(1n, 1)));
      suite.clock.advance(1_000);
      await commit(unitOf(sold(1n, 3)));
      const { outcomes } = await commit(
        unitOf(counted(1n, 7, 1, undefined, added + 999)),
        unitOf(counted(1n, 7, 1, undefined, added + 1_000)),
        unitOf(counted(1n, 7, 4, undefined, added + 1_000)),
        unitOf(counted(1n, 7, 4, undefined, added + 2_001)),
      );
      const quantities = outcomes.map(
        (each) => each.kind === "stored" && each.entries[0]!.quantity,
      );
      expect(quantities).toEqual([2, 4, 7, false]);
      expect(outcomes.at(-1)).toMatchObject({ reason: "count_untimed" });
    });

    test("that is being made is shown to others until it is old or empty", async () => {
      const { keys, stocktakes } = suite.store;
      for (const id of ["key_a", "key_b"]) await keys.addKey(keyNamed(id), digestOf(id), anEntry);
      const ids = [2n ** 63n - 1n, -1n];
      await stocktakes.setStocktake("key_a", [5n], 1_000);
      await stocktakes.setStocktake("key_a", ids, 2_000);
      await stocktakes.setStocktake("key_b", [1n], 3_000);
      const other = await suite.place.open();
      const a = { keyName: "The key key_a", petIds: ids };
      const b = { keyName: "The key key_b", petIds: [1n] };
      expect(await other.stocktakes.listStocktakes("key_c", 1_999)).toEqual([b, a]);
      expect(await other.stocktakes.listStocktakes("key_b", 1_999)).toEqual([a]);
      expect(await stocktakes.listStocktakes("key_c", 2_000)).toEqual([b]);
      await stocktakes.setStocktake("key_b", [], 5_000);
      expect(await stocktakes.listStocktakes("key_c", 0)).toEqual([a]);
    });
  });
}
