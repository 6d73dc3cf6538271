import { describe, expect, test } from "bun:test";
import type { ImportDifference } from "../../../src/domain/catalogue/import-preview.ts";
import { commandImport } from "../../../src/domain/catalogue/import-preview.ts";
import { createProblems } from "../../../src/domain/catalogue/import-problems.ts";
import type { OrderRecord } from "../../../src/domain/catalogue/orders.ts";
import type { PetRecord } from "../../../src/domain/catalogue/pets.ts";
import { int64Max } from "../../../src/domain/values/int64.ts";
import { petRow } from "../pets.ts";
import { batchesOf, brokenOff, orderRow, type StoreSuite } from "./suite.ts";

export function describeImports(suite: StoreSuite): void {
  const { add, ledger, set, expectSound } = suite;
  describe("an import of pets", () => {
    test("creates with the given values or the defaults, one ledger row for each", async () => {
      const imported = await add(
        { petId: 2n, name: "Luna", category: "cats", tags: ["a", "b"], photoUrls: ["https://x"] },
        { petId: 1n, name: "Rex", status: "sold", quantity: 3 },
      );
      expect(imported).toEqual({ created: 2, changed: 0, unchanged: 0 });
      expect(await suite.store.catalogue.petsAfter(null, 10)).toMatchObject([
        {
          petId: 1n,
          name: "Rex",
          category: null,
          tags: [],
          photoUrls: [],
          status: "sold",
          quantity: 3,
        },
        {
          petId: 2n,
          name: "Luna",
          category: "cats",
          tags: ["a", "b"],
          photoUrls: ["https://x"],
          status: "available",
          quantity: 0,
        },
      ]);
      expect(await ledger()).toMatchObject([
        { seq: 1, petId: 1n, before: null, previous: null, cause: "import", reason: "test" },
        { seq: 2, petId: 2n, before: null, previous: null, keyId: null, requestId: null },
      ]);
      await expectSound();
    });

    test("keeps values that are not given, and adds a ledger row only where stock or status changed", async () => {
      const known = { name: "Rex", category: "dogs", tags: ["a"], photoUrls: ["https://x"] };
      await add(...[1n, 2n, 3n, 4n, 5n].map((petId) => ({ petId, ...known, quantity: 3 })));
      const imported = await add(
        { petId: 1n, name: undefined },
        { petId: 2n, name: "Max" },
        { petId: 3n, name: undefined, quantity: 4 },
        { petId: 4n, name: undefined, status: "sold", quantity: 3 },
        { petId: 5n, name: "Rex", category: "dogs", tags: ["a"], quantity: 3 },
        { petId: 6n, name: "New" },
      );
      expect(imported).toEqual({ created: 1, changed: 3, unchanged: 2 });
      const rows = (await ledger()).slice(5);
      expect(rows.map((row) => [row.petId, row.before?.quantity, row.previous])).toEqual([
        [3n, 3, 3],
        [4n, 3, 4],
        [6n, undefined, null],
      ]);
      expect(await suite.store.catalogue.findPet(2n)).toMatchObject({
        ...known,
        name: "Max",
        quantity: 3,
      });
      expect(await suite.store.catalogue.findPet(3n)).toMatchObject({ ...known, quantity: 4 });
      expect(await suite.store.catalogue.findPet(4n)).toMatchObject({ ...known, status: "sold" });
      await expectSound();
    });

    test("can be previewed: the same counts, every difference, and no change", async () => {
      await add(
        { petId: 1n, name: "Rex", category: "dogs", tags: ["a"], quantity: 1 },
        { petId: 2n },
      );
      const before = await suite.store.inventory.readHead();
      const rows = [
        petRow({
          petId: 1n,
          name: "Max",
          category: null,
          tags: ["b"],
          status: "sold",
          quantity: 2,
        }),
        petRow({ petId: 2n, name: undefined }),
        petRow({ petId: int64Max, name: "New", quantity: 7 }),
      ];
      const found: ImportDifference[] = [];
      const preview = await suite.store.catalogue.previewPets(
        batchesOf(rows),
        createProblems(),
        async (differences) => void found.push(...differences),
      );
      expect(found).toEqual([
        { id: 1n, field: "name", from: "Rex", to: "Max" },
        { id: 1n, field: "category", from: "dogs", to: null },
        { id: 1n, field: "tags", from: ["a"], to: ["b"] },
        { id: 1n, field: "status", from: "available", to: "sold" },
        { id: 1n, field: "quantity", from: 1, to: 2 },
        { id: int64Max, field: "name", from: null, to: "New" },
        { id: int64Max, field: "quantity", from: null, to: 7 },
      ]);
      expect(await suite.store.inventory.readHead()).toEqual(before);
      expect(await suite.store.catalogue.findPet(1n)).toMatchObject({ name: "Rex", quantity: 1 });
      expect(
        await suite.store.catalogue.importPets(batchesOf(rows), commandImport("test")),
      ).toEqual(preview);
      expect(preview).toEqual({ created: 1, changed: 1, unchanged: 1 });
      await expectSound();
    });

    if (!suite.isWhole) return;

    test("distinguishes a category that is null from one that is not given", async () => {
      await add({ petId: 1n, category: "dogs" }, { petId: 2n, category: "dogs" });
      const cleared = await add({ petId: 1n, category: null }, { petId: 2n, category: undefined });
      expect(cleared).toEqual({ created: 0, changed: 1, unchanged: 1 });
      expect((await suite.store.catalogue.findPet(1n))?.category).toBeNull();
      expect((await suite.store.catalogue.findPet(2n))?.category).toBe("dogs");
    });

    test("is all or nothing: an invalid row in a later batch undoes all", async () => {
      await add({ petId: 1n, name: "Rex", quantity: 1 });
      const before = await suite.store.inventory.readHead();
      const invalid: [rows: PetRecord[][], sentence: string][] = [
        [[[petRow({ petId: 1n, quantity: 9 })], [petRow({ petId: 2n, name: undefined })]], "name"],
        [
          [[petRow({ petId: 3n })], [petRow({ petId: 4n }), petRow({ petId: 3n })]],
          "line 1: petId '3' must be unique, but line 1 has it too",
        ],
      ];
      for (const [rows, sentence] of invalid) {
        await expect(
          suite.store.catalogue.importPets(batchesOf(...rows), commandImport("test")),
        ).rejects.toThrow(sentence);
      }
      await expect(
        suite.store.catalogue.importPets(brokenOff(petRow({ petId: 5n })), commandImport("test")),
      ).rejects.toThrow("broken off");
      expect(await suite.store.inventory.readHead()).toEqual(before);
      expect(await suite.store.catalogue.petsAfter(null, 9)).toMatchObject([
        { petId: 1n, quantity: 1 },
      ]);
      // The next import succeeds.
      expect(await add({ petId: 2n })).toMatchObject({ created: 1 });
    });

    test("starts from what was committed while it was being read", async () => {
      await add({ petId: 1n, quantity: 1 });
      const interrupted = async function* () {
        yield [petRow({ petId: 1n, quantity: 5 })];
        await suite.store.inventory.commit([set(1n, 2), set(1n, 3)]);
        yield [petRow({ petId: 2n })];
      };
      await suite.store.catalogue.importPets(interrupted(), commandImport("test"));
      expect((await ledger()).map((row) => [row.before?.quantity, row.after?.quantity])).toEqual([
        [undefined, 1],
        [1, 2],
        [2, 3],
        [3, 5],
        [undefined, 0],
      ]);
      await expectSound();
    });

    test("of many rows continues the chain of what was committed after the last of them was read", async () => {
      const ids = [-int64Max, ...Array.from({ length: 200 }, (_, at) => BigInt(at)), int64Max];
      await add(...ids.map((petId) => ({ petId, quantity: 1 })));
      const interrupted = async function* () {
        yield [...ids, 500n].map((petId) => petRow({ petId, quantity: 5, status: "sold" }));
        await suite.store.inventory.commit([set(7n, 5), set(8n, 6), set(8n, 7)]);
      };
      const origin = commandImport('import of "größe"\u2028.csv');
      const imported = await suite.store.catalogue.importPets(interrupted(), origin);
      expect(imported).toEqual({ created: 1, changed: ids.length, unchanged: 0 });
      const rows = (await ledger()).slice(ids.length + 3);
      expect(rows.map(({ petId }) => petId)).toEqual([...ids.slice(0, -1), 500n, int64Max]);
      expect(rows[9]).toMatchObject({ petId: 8n, before: { quantity: 7 }, previous: 205 });
      await expectSound();
    });

    test("lists the first 50 problems of each rule that needs the store, and counts all", async () => {
      await add({ petId: 1n });
      const repeated = Array.from({ length: 120 }, () => petRow({ petId: 1n, line: 3 }));
      const nameless = Array.from({ length: 70 }, (_, at) =>
        petRow({ petId: BigInt(at + 2), name: undefined, line: at + 4 }),
      );
      const bad = petRow({ petId: 100n, name: undefined, line: 2, isBad: true });
      const problems = createProblems();
      problems.add({ line: 2, rule: "found while reading" });
      const rows = [petRow({ petId: 1n, line: 1 }), bad, ...nameless, ...repeated];
      for (const preview of [false, true]) {
        const found = createProblems();
        for (const problem of problems.list()) found.add(problem);
        const { catalogue } = suite.store;
        const running = preview
          ? catalogue.previewPets(batchesOf(rows), found, async () => {})
          : catalogue.importPets(batchesOf(rows), commandImport("test"), found);
        await expect(running).rejects.toThrow("line 2: found while reading");
        expect(found.count()).toBe(1 + 120 + 70);
        const first = found.list();
        expect(first).toHaveLength(50);
        expect(first[1]).toMatchObject({ line: 3, column: "petId", value: "1" });
        expect(first[1]?.rule).toContain("line 1 has it too");
      }
    });

    test("of no rows changes nothing", async () => {
      const before = await suite.store.inventory.readHead();
      expect(await add()).toEqual({ created: 0, changed: 0, unchanged: 0 });
      expect(await suite.store.inventory.readHead()).toEqual(before);
    });
  });

  test("an import of orders adds, replaces, skips equal ones, and rejects a duplicate id", async () => {
    const orders = (...rows: readonly (Partial<OrderRecord> & { id: bigint })[]) =>
      suite.store.catalogue.importOrders(batchesOf(rows.map(orderRow)), commandImport("test"));
    expect(await orders({ id: 1n }, { id: 2n }, { id: int64Max, shipDate: 5 })).toEqual({
      created: 3,
      changed: 0,
      unchanged: 0,
    });
    expect(await orders({ id: 1n }, { id: 2n, shipDate: 7 }, { id: int64Max })).toEqual({
      created: 0,
      changed: 2,
      unchanged: 1,
    });
    await expect(orders({ id: 4n }, { id: 4n })).rejects.toThrow("id '4' must be unique");
    const found: ImportDifference[] = [];
    const preview = await suite.store.catalogue.previewOrders(
      batchesOf([{ id: 2n, shipDate: 8, petId: int64Max }, { id: 5n }].map(orderRow)),
      createProblems(),
      async (differences) => void found.push(...differences),
    );
    expect(preview).toEqual({ created: 1, changed: 1, unchanged: 0 });
    expect(found.filter(({ id }) => id === 2n)).toEqual([
      { id: 2n, field: "petId", from: expect.any(BigInt), to: int64Max },
      {
        id: 2n,
        field: "shipDate",
        from: "1970-01-01T00:00:00.007Z",
        to: "1970-01-01T00:00:00.008Z",
      },
    ]);
    const listed = await suite.store.catalogue.listOrders({ after: null, limit: 9 });
    expect(listed.map((order) => [order.id, order.shipDate])).toEqual([
      [int64Max, null],
      [2n, 7],
      [1n, null],
    ]);
    expect((await suite.store.inventory.readHead()).seq).toBe(0);
  });
}
