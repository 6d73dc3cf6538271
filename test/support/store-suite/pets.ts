import { describe, expect, test } from "bun:test";
import {
  initialValues,
  type PetDetails,
  petFields,
} from "../../../src/domain/catalogue/pet-fields.ts";
import type { Pet } from "../../../src/domain/catalogue/pets.ts";
import { listHistory } from "../../../src/domain/history/history.ts";
import { undoRow, undoStore } from "../../../src/domain/history/undo.ts";
import { petNotFound } from "../../../src/domain/ledger/inventory.ts";
import type { RowOrigin } from "../../../src/domain/ledger/ledger.ts";
import { int64Max, int64Min } from "../../../src/domain/values/int64.ts";
import { anEntry } from "../audit.ts";
import { rejectionOf } from "../client/rejection.ts";
import { testStart } from "../clock.ts";
import { petRow } from "../pets.ts";
import { batchesOf, type StoreSuite } from "./suite.ts";

export const origin: RowOrigin = {
  cause: "console",
  keyId: "key_a",
  requestId: "req_1",
  reason: "a new pet",
};

export function newPet(petId: bigint, fields: Partial<Pet> = {}): Pet {
  const initial = petFields.map(({ name, kind }) => [name, initialValues[kind]]);
  return {
    petId,
    ...(Object.fromEntries(initial) as PetDetails),
    name: "Rex",
    category: "dogs",
    tags: ["a", 'quote " and 🐕'],
    status: "pending",
    quantity: 3,
    ...fields,
  };
}

export function describePets(suite: StoreSuite): void {
  const { add, entries, ledger, set, expectSound } = suite;
  const seqs = async (petId: bigint) =>
    (await listHistory(suite, petId, { limit: 100 })).rows.map(({ seq }) => seq);

  describe("a pet that is created", () => {
    test("has its details, its entry and one ledger row", async () => {
      await add({ petId: 5n });
      suite.clock.advance(1_000);
      for (const petId of [int64Min, 2n ** 53n + 1n, int64Max]) {
        const pet = newPet(petId);
        const created = await suite.store.catalogue.createPet(pet, origin);
        const { epoch } = await suite.store.inventory.readHead();
        const row = (await ledger()).at(-1)!;
        expect(created).toEqual({ kind: "created", row, epoch });
        expect(row).toMatchObject({
          petId,
          before: null,
          after: { quantity: 3, status: "pending" },
          previous: null,
          at: testStart + 1_000,
          ...origin,
        });
        expect(await suite.store.catalogue.findPet(petId)).toEqual(pet);
        expect((await suite.store.history.findEntry(petId))?.entry.version).toBe(row.seq);
      }
      await expectSound();
    });

    test("while updates are stored takes one number among theirs", async () => {
      await add({ petId: 1n });
      const other = await suite.place.open();
      const work = Array.from({ length: 10 }, (_, at) => [
        suite.store.inventory.commit([set(1n, at)]),
        other.catalogue.createPet(newPet(100n + BigInt(at)), origin),
      ]);
      await Promise.all(work.flat());
      expect((await ledger()).map(({ seq }) => seq)).toEqual(
        Array.from({ length: 21 }, (_, at) => at + 1),
      );
      await expectSound();
    });

    if (!suite.isWhole) return;

    test("is refused if the id is taken, and changes nothing", async () => {
      await add({ petId: 1n, name: "Luna", quantity: 7 });
      const before = await ledger();
      expect(await suite.store.catalogue.createPet(newPet(1n), origin)).toEqual({ kind: "exists" });
      expect(await ledger()).toEqual(before);
      expect(await suite.store.catalogue.findPet(1n)).toMatchObject({ name: "Luna", quantity: 7 });
    });

    test("by two at the same moment exists once", async () => {
      const other = await suite.place.open();
      const both = await Promise.all(
        [suite.store, other].map(({ catalogue }) => catalogue.createPet(newPet(1n), origin)),
      );
      expect(both.map(({ kind }) => kind).sort()).toEqual(["created", "exists"]);
      await expectSound();
    });
  });

  describe("a pet that is removed", () => {
    test("has no entry and cannot be updated, but keeps its history", async () => {
      await add({ petId: 1n, quantity: 4 }, { petId: 2n });
      await suite.store.inventory.commit([set(1n, 9)]);
      const removed = await suite.store.catalogue.removePet(1n, 3, origin);
      const { epoch } = await suite.store.inventory.readHead();
      const row = (await ledger()).at(-1)!;
      expect(removed).toEqual({ kind: "removed", row, epoch });
      expect(row).toMatchObject({
        seq: 4,
        petId: 1n,
        before: { quantity: 9, status: "available" },
        after: null,
        previous: 3,
        ...origin,
      });
      expect(await entries()).toMatchObject([{ petId: 2n }]);
      expect(await suite.store.catalogue.findPet(1n)).toBeUndefined();
      const { outcomes } = await suite.store.inventory.commit([set(1n, 1), set(2n, 1)]);
      expect(outcomes).toMatchObject([{ reason: "not_found" }, { kind: "stored" }]);
      expect(await seqs(1n)).toEqual([4, 3, 1]);
      await expectSound();
    });

    test("at another version than expected stays, and the entry is returned", async () => {
      await add({ petId: 1n, quantity: 4 });
      await suite.store.inventory.commit([set(1n, 9)]);
      const before = await ledger();
      expect(await suite.store.catalogue.removePet(1n, 1, origin)).toEqual({
        kind: "mismatch",
        current: { petId: 1n, quantity: 9, status: "available", version: 2 },
      });
      expect(await suite.store.catalogue.removePet(2n, undefined, origin)).toEqual({
        kind: "not_found",
      });
      expect(await ledger()).toEqual(before);
      expect(await entries()).toHaveLength(1);
    });

    if (!suite.isWhole) return;

    test("and created again, or imported, continues its history", async () => {
      await add({ petId: 1n, quantity: 4 });
      await suite.store.catalogue.removePet(1n, undefined, origin);
      await suite.store.catalogue.createPet(newPet(1n), origin);
      await suite.store.catalogue.removePet(1n, undefined, origin);
      await expect(add({ petId: 1n, name: undefined })).rejects.toThrow("name is required");
      expect(await add({ petId: 1n, quantity: 8 }, { petId: 2n })).toEqual({
        created: 2,
        changed: 0,
        unchanged: 0,
      });
      await suite.store.inventory.commit([set(1n, 9)]);
      expect((await ledger()).map((row) => [row.petId, row.previous])).toEqual([
        [1n, null],
        [1n, 1],
        [1n, 2],
        [1n, 3],
        [1n, 4],
        [2n, null],
        [1n, 5],
      ]);
      expect(await seqs(1n)).toEqual([7, 5, 4, 3, 2, 1]);
      expect(await suite.store.catalogue.findPet(1n)).toMatchObject({ quantity: 9, tags: [] });
      await expectSound();
    });

    test("by an import that has read it before the removal is created again with a name", async () => {
      await add({ petId: 1n, name: "Luna", quantity: 4 });
      const interrupted = (name: string | undefined) =>
        (async function* () {
          yield [petRow({ petId: 1n, name, quantity: 5 })];
          await suite.store.catalogue.removePet(1n, undefined, origin);
        })();
      const importing = { actor: origin, reason: "test" };
      await suite.store.catalogue.importPets(interrupted("Luna"), importing);
      expect(await suite.store.catalogue.findPet(1n)).toMatchObject({ quantity: 5 });
      const nameless = suite.store.catalogue.importPets(interrupted(undefined), importing);
      expect(String(await rejectionOf(nameless))).toContain("name is required for a new pet");
      await expectSound();
    });

    test("cannot be restored by an undo, and neither can its creation be undone", async () => {
      await suite.store.catalogue.createPet(newPet(1n), origin);
      await suite.store.inventory.commit([set(1n, 9)]);
      await suite.store.catalogue.removePet(1n, undefined, origin);
      const undo = (seq: number) => undoRow(undoStore(suite.store), seq, { force: true });
      expect(await undo(1)).toEqual({ kind: "creates_entry", petId: 1n });
      expect(String(await rejectionOf(undo(2)))).toContain(petNotFound);
      expect(await undo(3)).toEqual({ kind: "removes_entry", petId: 1n });
      expect(await ledger()).toHaveLength(3);
    });

    test("is removed in a copy of the store, too", async () => {
      await add({ petId: 1n, quantity: 4 }, { petId: 2n });
      await suite.store.catalogue.removePet(1n, undefined, origin);
      await expectSound();
      const another = await suite.enterAnother();
      try {
        const copy = await another.open();
        await suite.store.transfer.snapshot(({ rowsOf }) => copy.transfer.importTables(rowsOf));
        const { rows } = await listHistory({ store: copy }, 1n, { limit: 9 });
        expect(rows.map(({ seq }) => seq)).toEqual([3, 1]);
        expect(await copy.catalogue.createPet(newPet(1n), origin)).toMatchObject({
          row: { seq: 4, previous: 3 },
        });
      } finally {
        await another.remove();
      }
    });
  });

  describe("a change of a pet's details", () => {
    test("is made if the pet is still as it was read, with an audit row and without a ledger row", async () => {
      const pet = newPet(1n);
      await suite.store.catalogue.createPet(pet, origin);
      const { changePet, findPet } = suite.store.catalogue;
      const entry = { ...anEntry, action: "pet.changed", target: "1", at: testStart } as const;
      const renamed = { ...pet, name: "Max", tags: [] };
      expect(await changePet(1n, pet, renamed, entry)).toBe(true);
      expect(await findPet(1n)).toEqual(renamed);
      const other = { ...renamed, category: null, photoUrls: ["x"] };
      expect(await changePet(1n, renamed, other, entry)).toBe(true);
      expect(await findPet(1n)).toEqual(other);
      for (const known of [pet, renamed, { ...other, name: "Rex" }, { ...other, tags: ["x"] }]) {
        expect(await changePet(1n, known, pet, entry)).toBe(false);
      }
      expect(await findPet(1n)).toEqual(other);
      expect(await changePet(2n, other, pet, entry)).toBe(false);
      expect(await ledger()).toHaveLength(1);
      const noted = await suite.store.audit.listEntries({ action: "pet.changed" }, 9);
      expect(noted.map(({ target }) => target)).toEqual(["1", "1"]);
      await expectSound();
    });
  });

  test("an import by an operator names the key and the request in the ledger and the audit log", async () => {
    const actor = { keyId: "key_a", requestId: "req_7" };
    const { catalogue, audit } = suite.store;
    const reason = 'import of "pets".csv';
    await catalogue.importPets(batchesOf([petRow({ petId: 1n })]), { actor, reason });
    await catalogue.importOrders(batchesOf([]), { actor, reason: "import of orders.csv" });
    expect(await ledger()).toMatchObject([{ cause: "import", ...actor, reason }]);
    const counts = { created: 1, changed: 0, unchanged: 0 };
    expect(await audit.listEntries({}, 9)).toMatchObject([
      {
        action: "orders.imported",
        ...actor,
        details: { reason: "import of orders.csv", ...counts, created: 0 },
      },
      { action: "pets.imported", ...actor, details: { reason, ...counts }, at: testStart },
    ]);
    await expectSound();
  });
}
