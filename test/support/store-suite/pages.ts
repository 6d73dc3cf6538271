import { describe, expect, test } from "bun:test";
import { commandImport } from "../../../src/domain/catalogue/import-preview.ts";
import { int64Max, int64Min } from "../../../src/domain/values/int64.ts";
import { batchesOf, orderRow, type StoreSuite } from "./suite.ts";

export function describePages(suite: StoreSuite): void {
  const { add } = suite;
  describe("pages", () => {
    const ids = [int64Min, int64Min + 1n, -1n, 0n, 2n ** 53n + 1n, int64Max - 1n, int64Max];

    test("of entries and pets cover the whole range of ids in ascending order", async () => {
      await add(...ids.map((petId) => ({ petId })));
      for (const page of [suite.store.inventory.entriesAfter, suite.store.catalogue.petsAfter]) {
        const found: bigint[] = [];
        let after: bigint | null = null;
        for (;;) {
          const some: readonly { petId: bigint }[] = await page(after, 2);
          if (some.length === 0) break;
          found.push(...some.map((one) => one.petId));
          after = found.at(-1)!;
        }
        expect(found).toEqual(ids);
        expect(await page(int64Max, 10)).toEqual([]);
        expect(await page(int64Min, 1)).toMatchObject([{ petId: int64Min + 1n }]);
      }
      for (const petId of ids) {
        expect(await suite.store.catalogue.findPet(petId)).toMatchObject({
          petId,
          name: `Pet ${petId}`,
        });
      }
      expect(await suite.store.catalogue.findPet(7n)).toBeUndefined();
    });

    if (!suite.isWhole) return;

    test("of orders cover the whole range of ids in descending order", async () => {
      await suite.store.catalogue.importOrders(
        batchesOf(ids.map((id) => orderRow({ id }))),
        commandImport("test"),
      );
      const found: bigint[] = [];
      let after: bigint | null = null;
      for (;;) {
        const some = await suite.store.catalogue.listOrders({ after, limit: 3 });
        if (some.length === 0) break;
        found.push(...some.map((order) => order.id));
        after = found.at(-1)!;
      }
      expect(found).toEqual(ids.toReversed());
      expect(await suite.store.catalogue.listOrders({ after: int64Min, limit: 5 })).toEqual([]);
    });

    test("of the ledger begin after the given number and end at the head", async () => {
      await add({ petId: 1n }, { petId: 2n }, { petId: 3n });
      expect((await suite.store.inventory.ledgerAfter(1, 1)).map((row) => row.seq)).toEqual([2]);
      expect((await suite.store.inventory.ledgerAfter(1, 9)).map((row) => row.seq)).toEqual([2, 3]);
      expect(await suite.store.inventory.ledgerAfter(3, 9)).toEqual([]);
    });
  });
}
