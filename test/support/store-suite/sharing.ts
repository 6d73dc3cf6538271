import { describe, expect, test } from "bun:test";
import { digestOf } from "../../../src/domain/keys/keyring.ts";
import { anEntry } from "../audit.ts";
import { keyNamed, type StoreSuite } from "./suite.ts";

export function describeSharing(suite: StoreSuite): void {
  const { add, entries, set } = suite;
  test("a snapshot shows one state, whatever is written in the meantime", async () => {
    await add({ petId: 1n, quantity: 1 });
    await suite.store.transfer.snapshot(async (reader) => {
      const before = await reader.readHead();
      await suite.store.inventory.commit([set(1n, 2)]);
      await add({ petId: 2n });
      expect(await reader.readHead()).toEqual(before);
      expect(await reader.entriesAfter(null, 9)).toMatchObject([{ petId: 1n, quantity: 1 }]);
      expect(await reader.ledgerAfter(0, 9)).toHaveLength(1);
      expect(await reader.findPet(2n)).toBeUndefined();
    });
    expect(await entries()).toMatchObject([{ quantity: 2 }, { petId: 2n }]);
  });

  describe("several stores on one database", () => {
    test("see each other's changes immediately, including keys and bans", async () => {
      const other = await suite.place.open();
      await add({ petId: 1n });
      expect(await other.inventory.readHead()).toEqual(await suite.store.inventory.readHead());
      await other.inventory.commit([set(1n, 4)]);
      expect(await entries()).toMatchObject([{ petId: 1n, quantity: 4, version: 2 }]);
      expect(
        suite.store.inventory.cachedHead() ?? (await suite.store.inventory.readHead()),
      ).toMatchObject({
        seq: 2,
      });
      const { keysVersion } = await suite.store.inventory.readHead();
      await other.keys.addKey(keyNamed("key_a"), digestOf("key_a"), anEntry);
      expect((await suite.store.keys.findSecret(digestOf("key_a")))?.key.id).toBe("key_a");
      expect((await suite.store.inventory.readHead()).keysVersion).toBeGreaterThan(keysVersion);
      expect(
        (suite.store.inventory.cachedHead() ?? (await suite.store.inventory.readHead()))
          .keysVersion,
      ).toBeGreaterThan(keysVersion);
    });

    test("all know the last of the commits that they make at the same time", async () => {
      const stores = [suite.store, await suite.place.open()];
      await add({ petId: 1n }, { petId: 2n });
      for (const { inventory } of stores) inventory.cachedHead();
      await Promise.all(stores.map(({ inventory }, at) => inventory.commit([set(1n, at)])));
      for (const { inventory } of stores) {
        expect(inventory.cachedHead() ?? (await inventory.readHead())).toMatchObject({ seq: 4 });
      }
    });

    if (!suite.isWhole) return;

    test("have one epoch, and another database has another", async () => {
      const other = await suite.place.open();
      expect((await other.inventory.readHead()).epoch).toBe(
        (await suite.store.inventory.readHead()).epoch,
      );
      const elsewhere = await suite.enterAnother();
      const foreign = await (await elsewhere.open()).inventory.readHead();
      expect(foreign.epoch).not.toBe((await suite.store.inventory.readHead()).epoch);
      await elsewhere.remove();
    });

    test("find everything after all were closed", async () => {
      await add({ petId: 1n, quantity: 6 });
      const { seq, keysVersion } = await suite.store.inventory.readHead();
      await suite.store.close();
      suite.store = await suite.place.open();
      expect(await suite.store.inventory.readHead()).toMatchObject({ seq, keysVersion });
      expect(await entries()).toMatchObject([{ petId: 1n, quantity: 6 }]);
    });

    test("cannot be opened for another environment", async () => {
      await expect(suite.place.open("staging")).rejects.toThrow(
        "the database belongs to the production environment, not to staging",
      );
    });
  });
}
