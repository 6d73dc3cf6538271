import { describe, expect, test } from "bun:test";
import { int64Min } from "../../../src/domain/values/int64.ts";
import { testStart } from "../clock.ts";
import { storedEntry, versionOrReason } from "../units.ts";
import type { StoreSuite } from "./suite.ts";

export function describeGroups(suite: StoreSuite): void {
  const { add, ledger, entries, set, expectSound } = suite;
  describe("a group of units", () => {
    test("gets consecutive numbers in its order, and each row starts from the result of the last one", async () => {
      await add({ petId: 1n, quantity: 5, status: "pending" }, { petId: 2n });
      const { outcomes } = await suite.store.inventory.commit([
        set(2n, 7),
        set(1n, 6),
        set(1n, 6),
        set(1n, 0),
      ]);
      const rows = await suite.store.inventory.ledgerAfter(2, 10);
      expect(rows.map((row) => row.seq)).toEqual([3, 4, 5, 6]);
      expect(rows.map((row) => [row.petId, row.before?.quantity, row.after?.quantity])).toEqual([
        [2n, 0, 7],
        [1n, 5, 6],
        [1n, 6, 6],
        [1n, 6, 0],
      ]);
      expect(rows.map((row) => row.previous)).toEqual([2, 1, 4, 5]);
      expect(outcomes.map(storedEntry)).toMatchObject([
        { petId: 2n, quantity: 7, status: "available", version: 3 },
        { petId: 1n, quantity: 6, status: "pending", version: 4 },
        { petId: 1n, quantity: 6, status: "pending", version: 5 },
        { petId: 1n, quantity: 0, status: "pending", version: 6 },
      ]);
      expect(await entries()).toEqual([
        { petId: 1n, quantity: 0, status: "pending", version: 6 },
        { petId: 2n, quantity: 7, status: "available", version: 3 },
      ]);
      await expectSound();
    });

    test("and others from several stores, hundreds of changes at once, form one sequence", async () => {
      await add(...Array.from({ length: 10 }, (_, at) => ({ petId: BigInt(at) })));
      const other = await suite.place.open();
      const groups = Array.from({ length: 12 }, (_, group) =>
        (group % 2 ? other : suite.store).inventory.commit(
          Array.from({ length: 25 }, (_, at) => set(BigInt((group + at) % 10), group)),
        ),
      );
      const committed = await Promise.all(groups);
      const versions = committed.map(({ rows }) => rows.map(({ seq }) => seq));
      expect(versions.flat().sort((one, next) => one - next)).toEqual(
        Array.from({ length: 300 }, (_, at) => at + 11),
      );
      for (const group of versions) expect(group.at(-1)! - group[0]!).toBe(24);
      await expectSound();
    });

    if (!suite.isWhole) return;

    test("rejects an unknown pet without affecting its neighbours or using a number", async () => {
      await add({ petId: 1n });
      const { outcomes } = await suite.store.inventory.commit([set(9n, 1), set(1n, 1), set(8n, 2)]);
      expect(outcomes.map(versionOrReason)).toEqual(["not_found", 2, "not_found"]);
      expect(await ledger()).toHaveLength(2);
      expect((await suite.store.inventory.readHead()).seq).toBe(2);
    });

    test("of unknown pets only changes nothing", async () => {
      const before = await suite.store.inventory.readHead();
      expect(await suite.store.inventory.commit([set(1n, 1)])).toMatchObject({
        rows: [],
        outcomes: [{ kind: "rejected", reason: "not_found", index: 0 }],
      });
      expect(await suite.store.inventory.readHead()).toEqual(before);
      expect(await ledger()).toEqual([]);
    });

    test("stores key, request, reason and time, and the largest quantity", async () => {
      await add({ petId: int64Min });
      suite.clock.advance(1_000);
      const quantity = Number.MAX_SAFE_INTEGER;
      await suite.store.inventory.commit([set(int64Min, quantity, "counted")]);
      expect((await ledger()).at(-1)).toMatchObject({
        seq: 2,
        petId: int64Min,
        after: { quantity, status: "available" },
        cause: "api",
        keyId: "key_a",
        requestId: `req_${quantity}`,
        reason: "counted",
        at: testStart + 1_000,
      });
    });

    test("is never older than the row before it, whatever the clock does", async () => {
      await add({ petId: 1n });
      for (const move of [5_000, -60_000, 1, 120_000]) {
        suite.clock.advance(move);
        await suite.store.inventory.commit([set(1n, 1)]);
      }
      suite.clock.set(0);
      await add({ petId: 2n });
      const times = (await ledger()).map((row) => row.at - testStart);
      expect(times).toEqual([0, 5_000, 5_000, 5_000, 65_001, 65_001]);
      await expectSound();
    });
  });
}
