import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Environment, Key } from "../../src/domain/keys.ts";
import { digestOf, scopes } from "../../src/domain/keys.ts";
import type { OrderRecord } from "../../src/domain/orders.ts";
import type { PetRecord } from "../../src/domain/pets.ts";
import type { Store } from "../../src/domain/ports.ts";
import { int64Max, int64Min } from "../../src/domain/values/int64.ts";
import { verify } from "../../src/domain/verify.ts";
import { createTestClock, type TestClock, testStart } from "./clock.ts";
import { petRow } from "./pets.ts";
import { setUnit, storedEntry, versionOrReason } from "./units.ts";

/** A database of one engine, empty at first, on which any number of stores can be opened. */
export interface StorePlace {
  open(environment?: Environment): Promise<Store>;
  /** Runs a statement as somebody who got at the database without us. */
  execute(sql: string): Promise<unknown>;
  /** Closes what is still open and removes the database. */
  remove(): Promise<void>;
}

/** What every engine has to do, written once: an engine joins by one call. */
export function storeSuite(name: string, enter: (clock: TestClock) => Promise<StorePlace>): void {
  describe(name, () => {
    let clock: TestClock;
    let place: StorePlace;
    let store: Store;
    beforeEach(async () => {
      clock = createTestClock();
      place = await enter(clock);
      store = await place.open();
    });
    afterEach(() => place.remove());

    const add = (...rows: readonly (Partial<PetRecord> & { petId: bigint })[]) =>
      store.catalogue.importPets(batchesOf(rows.map(petRow)), "test");
    const ledger = () => store.inventory.ledgerAfter(0, 1_000);
    const entries = () => store.inventory.entriesAfter(null, 1_000);
    const set = (petId: bigint, quantity: number, reason: string | null = null) =>
      setUnit(petId, quantity, { keyId: "key_a", requestId: `req_${quantity}`, reason });
    const expectSound = async () => {
      // The key that changes are made by here exists in a sound store.
      await store.keys.addKey(keyNamed("key_a"), digestOf("key_a"));
      expect((await store.transfer.snapshot(verify)).faults as unknown).toEqual([]);
    };

    describe("a group of changes", () => {
      test("gets gapless numbers in its order, each row starting where the last one ended", async () => {
        await add({ petId: 1n, quantity: 5, status: "pending" }, { petId: 2n });
        const { outcomes } = await store.inventory.commit([
          set(2n, 7),
          set(1n, 6),
          set(1n, 6),
          set(1n, 0),
        ]);
        const rows = await store.inventory.ledgerAfter(2, 10);
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

      test("refuses an unknown pet without failing its neighbours or using a number", async () => {
        await add({ petId: 1n });
        const { outcomes } = await store.inventory.commit([set(9n, 1), set(1n, 1), set(8n, 2)]);
        expect(outcomes.map(versionOrReason)).toEqual(["not_found", 2, "not_found"]);
        expect(await ledger()).toHaveLength(2);
        expect((await store.inventory.readHead()).seq).toBe(2);
      });

      test("of unknown pets only leaves everything as it is", async () => {
        const before = await store.inventory.readHead();
        expect(await store.inventory.commit([set(1n, 1)])).toMatchObject({
          rows: [],
          outcomes: [{ kind: "rejected", reason: "not_found", index: 0 }],
        });
        expect(await store.inventory.readHead()).toEqual(before);
        expect(await ledger()).toEqual([]);
      });

      test("keeps who, which request, why and when, and the largest quantity", async () => {
        await add({ petId: int64Min });
        clock.advance(1_000);
        const quantity = Number.MAX_SAFE_INTEGER;
        await store.inventory.commit([set(int64Min, quantity, "counted")]);
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
          clock.advance(move);
          await store.inventory.commit([set(1n, 1)]);
        }
        clock.set(0);
        await add({ petId: 2n });
        const times = (await ledger()).map((row) => row.at - testStart);
        expect(times).toEqual([0, 5_000, 5_000, 5_000, 65_001, 65_001]);
        await expectSound();
      });

      test("of a thousand at once from several stores keeps one sequence", async () => {
        await add(...Array.from({ length: 10 }, (_, at) => ({ petId: BigInt(at) })));
        const other = await place.open();
        const groups = Array.from({ length: 40 }, (_, group) =>
          (group % 2 ? other : store).inventory.commit(
            Array.from({ length: 25 }, (_, at) => set(BigInt((group + at) % 10), group)),
          ),
        );
        const committed = await Promise.all(groups);
        const versions = committed.map(({ rows }) => rows.map(({ seq }) => seq));
        expect(versions.flat().sort((one, next) => one - next)).toEqual(
          Array.from({ length: 1_000 }, (_, at) => at + 11),
        );
        for (const group of versions) expect(group.at(-1)! - group[0]!).toBe(24);
        await expectSound();
      });
    });

    describe("pages", () => {
      const ids = [int64Min, int64Min + 1n, -1n, 0n, 2n ** 53n + 1n, int64Max - 1n, int64Max];

      test("of entries and pets cover the whole range of ids in ascending order", async () => {
        await add(...ids.map((petId) => ({ petId })));
        for (const page of [store.inventory.entriesAfter, store.catalogue.petsAfter]) {
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
          expect(await store.catalogue.findPet(petId)).toMatchObject({
            petId,
            name: `Pet ${petId}`,
          });
        }
        expect(await store.catalogue.findPet(7n)).toBeUndefined();
      });

      test("of orders cover the whole range of ids in descending order", async () => {
        await store.catalogue.importOrders(batchesOf(ids.map((id) => orderRow({ id }))));
        const found: bigint[] = [];
        let after: bigint | null = null;
        for (;;) {
          const some = await store.catalogue.listOrders({ after, limit: 3 });
          if (some.length === 0) break;
          found.push(...some.map((order) => order.id));
          after = found.at(-1)!;
        }
        expect(found).toEqual(ids.toReversed());
        expect(await store.catalogue.listOrders({ after: int64Min, limit: 5 })).toEqual([]);
      });

      test("of the ledger begin after the number given and end at the head", async () => {
        await add({ petId: 1n }, { petId: 2n }, { petId: 3n });
        expect((await store.inventory.ledgerAfter(1, 1)).map((row) => row.seq)).toEqual([2]);
        expect((await store.inventory.ledgerAfter(1, 9)).map((row) => row.seq)).toEqual([2, 3]);
        expect(await store.inventory.ledgerAfter(3, 9)).toEqual([]);
      });
    });

    describe("an import of pets", () => {
      test("creates with the given values or the defaults, one ledger row for each", async () => {
        const imported = await add(
          { petId: 2n, name: "Luna", category: "cats", tags: ["a", "b"], photoUrls: ["https://x"] },
          { petId: 1n, name: "Rex", status: "sold", quantity: 3 },
        );
        expect(imported).toEqual({ created: 2, changed: 0, unchanged: 0 });
        expect(await store.catalogue.petsAfter(null, 10)).toEqual([
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

      test("leaves what is not given, and adds a ledger row only where stock or status changed", async () => {
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
        expect(await store.catalogue.findPet(2n)).toMatchObject({
          ...known,
          name: "Max",
          quantity: 3,
        });
        expect(await store.catalogue.findPet(3n)).toMatchObject({ ...known, quantity: 4 });
        expect(await store.catalogue.findPet(4n)).toMatchObject({ ...known, status: "sold" });
        await expectSound();
      });

      test("tells a category that is null from one that is not given", async () => {
        await add({ petId: 1n, category: "dogs" }, { petId: 2n, category: "dogs" });
        const cleared = await add(
          { petId: 1n, category: null },
          { petId: 2n, category: undefined },
        );
        expect(cleared).toEqual({ created: 0, changed: 1, unchanged: 1 });
        expect((await store.catalogue.findPet(1n))?.category).toBeNull();
        expect((await store.catalogue.findPet(2n))?.category).toBe("dogs");
      });

      test("is all or nothing: a bad row in a later batch leaves no trace of any", async () => {
        await add({ petId: 1n, name: "Rex", quantity: 1 });
        const before = await store.inventory.readHead();
        const bad: [rows: PetRecord[][], sentence: string][] = [
          [
            [[petRow({ petId: 1n, quantity: 9 })], [petRow({ petId: 2n, name: undefined })]],
            "name",
          ],
          [
            [[petRow({ petId: 3n })], [petRow({ petId: 4n }), petRow({ petId: 3n })]],
            "line 1: field 'petId': 3 was already given",
          ],
        ];
        for (const [rows, sentence] of bad) {
          await expect(store.catalogue.importPets(batchesOf(...rows), "test")).rejects.toThrow(
            sentence,
          );
        }
        await expect(
          store.catalogue.importPets(brokenOff(petRow({ petId: 5n })), "test"),
        ).rejects.toThrow("broken off");
        expect(await store.inventory.readHead()).toEqual(before);
        expect(await store.catalogue.petsAfter(null, 9)).toMatchObject([
          { petId: 1n, quantity: 1 },
        ]);
        // And the store is none the worse for it.
        expect(await add({ petId: 2n })).toMatchObject({ created: 1 });
      });

      test("meets what was committed while it was being read", async () => {
        await add({ petId: 1n, quantity: 1 });
        const interrupted = async function* () {
          yield [petRow({ petId: 1n, quantity: 5 })];
          await store.inventory.commit([set(1n, 2), set(1n, 3)]);
          yield [petRow({ petId: 2n })];
        };
        await store.catalogue.importPets(interrupted(), "test");
        expect((await ledger()).map((row) => [row.before?.quantity, row.after?.quantity])).toEqual([
          [undefined, 1],
          [1, 2],
          [2, 3],
          [3, 5],
          [undefined, 0],
        ]);
        await expectSound();
      });

      test("of no rows changes nothing", async () => {
        const before = await store.inventory.readHead();
        expect(await add()).toEqual({ created: 0, changed: 0, unchanged: 0 });
        expect(await store.inventory.readHead()).toEqual(before);
      });
    });

    test("an import of orders adds, replaces, leaves equal ones, and refuses an id given twice", async () => {
      const orders = (...rows: readonly (Partial<OrderRecord> & { id: bigint })[]) =>
        store.catalogue.importOrders(batchesOf(rows.map(orderRow)));
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
      await expect(orders({ id: 4n }, { id: 4n })).rejects.toThrow("field 'id': 4 was already");
      const listed = await store.catalogue.listOrders({ after: null, limit: 9 });
      expect(listed.map((order) => [order.id, order.shipDate])).toEqual([
        [int64Max, null],
        [2n, 7],
        [1n, null],
      ]);
      expect((await store.inventory.readHead()).seq).toBe(0);
    });

    test("a snapshot shows one moment, whatever is written during it", async () => {
      await add({ petId: 1n, quantity: 1 });
      await store.transfer.snapshot(async (reader) => {
        const before = await reader.readHead();
        await store.inventory.commit([set(1n, 2)]);
        await add({ petId: 2n });
        expect(await reader.readHead()).toEqual(before);
        expect(await reader.entriesAfter(null, 9)).toMatchObject([{ petId: 1n, quantity: 1 }]);
        expect(await reader.ledgerAfter(0, 9)).toHaveLength(1);
        expect(await reader.findPet(2n)).toBeUndefined();
      });
      expect(await entries()).toMatchObject([{ quantity: 2 }, { petId: 2n }]);
    });

    describe("several stores on one database", () => {
      test("see each other's changes at once, keys and bans included", async () => {
        const other = await place.open();
        await add({ petId: 1n });
        expect(await other.inventory.readHead()).toEqual(await store.inventory.readHead());
        await other.inventory.commit([set(1n, 4)]);
        expect(await entries()).toMatchObject([{ petId: 1n, quantity: 4, version: 2 }]);
        expect(store.inventory.cachedHead() ?? (await store.inventory.readHead())).toMatchObject({
          seq: 2,
        });
        const { keysVersion } = await store.inventory.readHead();
        await other.keys.addKey(keyNamed("key_a"), "digest");
        expect((await store.keys.findSecret("digest"))?.key.id).toBe("key_a");
        expect((await store.inventory.readHead()).keysVersion).toBeGreaterThan(keysVersion);
        expect(
          (store.inventory.cachedHead() ?? (await store.inventory.readHead())).keysVersion,
        ).toBeGreaterThan(keysVersion);
      });

      test("have one epoch, and another database has another", async () => {
        const other = await place.open();
        expect((await other.inventory.readHead()).epoch).toBe(
          (await store.inventory.readHead()).epoch,
        );
        const elsewhere = await enter(clock);
        const foreign = await (await elsewhere.open()).inventory.readHead();
        expect(foreign.epoch).not.toBe((await store.inventory.readHead()).epoch);
        await elsewhere.remove();
      });

      test("find everything again after all were closed", async () => {
        await add({ petId: 1n, quantity: 6 });
        const { seq, keysVersion } = await store.inventory.readHead();
        await store.close();
        store = await place.open();
        expect(await store.inventory.readHead()).toMatchObject({ seq, keysVersion });
        expect(await entries()).toMatchObject([{ petId: 1n, quantity: 6 }]);
      });

      test("are refused for another environment", async () => {
        await expect(place.open("staging")).rejects.toThrow(
          "the database belongs to the production environment, not to staging",
        );
      });
    });

    describe("keys", () => {
      test("are found by digest and by id as they were added", async () => {
        const key: Key = {
          ...keyNamed("key_a"),
          plan: "enterprise",
          limits: { perMinute: 7, perDay: 999_999_999_999 },
          scopes: ["pets:read"],
          expiresAt: testStart + 5,
        };
        await store.keys.addKey(key, "digest-a");
        await store.keys.addKey({ ...keyNamed("key_b"), createdAt: testStart + 1 }, "digest-b");
        expect(await store.keys.findKey("key_a")).toEqual(key);
        expect(await store.keys.findSecret("digest-a")).toEqual({
          key,
          secret: { digest: "digest-a", expiresAt: null },
        });
        expect((await store.keys.listKeys()).map((one) => one.id)).toEqual(["key_a", "key_b"]);
        expect(await store.keys.findKey("key_c")).toBeUndefined();
        expect(await store.keys.findSecret("digest-c")).toBeUndefined();
      });

      test("rotated have a new secret, and the others end no later than told", async () => {
        await store.keys.addKey(keyNamed("key_a"), "one");
        await store.keys.addSecret("key_a", "two", testStart, testStart + 100);
        await store.keys.addSecret("key_a", "three", testStart, testStart + 500);
        const ends = async (digest: string) =>
          (await store.keys.findSecret(digest))?.secret.expiresAt;
        expect([await ends("one"), await ends("two"), await ends("three")]).toEqual([
          testStart + 100,
          testStart + 500,
          null,
        ]);
      });

      test("revoked keep the time of the first revocation", async () => {
        await store.keys.addKey(keyNamed("key_a"), "one");
        await store.keys.revokeKey("key_a", testStart + 1);
        await store.keys.revokeKey("key_a", testStart + 2);
        expect((await store.keys.findSecret("one"))?.key.revokedAt).toBe(testStart + 1);
      });

      test("changed in any way move the version on", async () => {
        const versions = [(await store.inventory.readHead()).keysVersion];
        const note = async () => void versions.push((await store.inventory.readHead()).keysVersion);
        await store.keys.addKey(keyNamed("key_a"), "one").then(note);
        await store.keys.addSecret("key_a", "two", testStart, testStart).then(note);
        await store.usage.saveBan(banOf("key_a", testStart, testStart + 9));
        await store.usage.liftBan("key_a", testStart + 1).then(note);
        await store.keys.revokeKey("key_a", testStart).then(note);
        expect(versions).toEqual([...new Set(versions)].sort((one, next) => one - next));
        expect(versions).toHaveLength(5);
      });
    });

    describe("usage and bans", () => {
      beforeEach(async () => {
        await store.keys.addKey(keyNamed("key_a"), "one");
        await store.keys.addKey(keyNamed("key_b"), "two");
      });

      test("are loaded as they were last saved", async () => {
        const usage = (keyId: string, minuteCount: number) => ({
          keyId,
          minuteStart: testStart,
          minuteCount,
          dayStart: testStart - 43_200_000,
          dayCount: 99_999_999_999,
          lastUsedAt: testStart + minuteCount,
        });
        await store.usage.saveUsage([usage("key_a", 1), usage("key_b", 2)]);
        await store.usage.saveUsage([usage("key_b", 3)]);
        const loaded = await (await place.open()).usage.loadUsage();
        expect(loaded.toSorted((one, next) => (one.keyId < next.keyId ? -1 : 1))).toEqual([
          usage("key_a", 1),
          usage("key_b", 3),
        ]);
      });

      test("the latest ban of each key is loaded, and lifting ends one that is in force", async () => {
        await store.usage.saveBan(banOf("key_a", testStart, testStart + 10));
        await store.usage.saveBan(banOf("key_a", testStart + 20, testStart + 40));
        await store.usage.saveBan(banOf("key_b", testStart, testStart + 10));
        expect(await store.usage.liftBan("key_b", testStart + 10)).toBe(false);
        expect(await store.usage.liftBan("key_a", testStart + 30)).toBe(true);
        expect(await store.usage.liftBan("key_a", testStart + 31)).toBe(false);
        const bans = await (await place.open()).usage.loadBans();
        expect(bans.toSorted((one, next) => (one.keyId < next.keyId ? -1 : 1))).toEqual([
          { ...banOf("key_a", testStart + 20, testStart + 40), liftedAt: testStart + 30 },
          banOf("key_b", testStart, testStart + 10),
        ]);
      });
    });

    describe("the database itself refuses", () => {
      const wrongs: [name: string, sql: string][] = [
        ["to change a ledger row", "UPDATE ledger SET quantity_after = 9 WHERE seq = 1"],
        ["to delete a ledger row", "DELETE FROM ledger WHERE seq = 1"],
        ["a quantity below zero", "UPDATE inventory SET quantity = -1"],
        ["a quantity past 2^53 - 1", "UPDATE inventory SET quantity = 9007199254740992"],
        ["an unknown status", "UPDATE inventory SET status = 'lost'"],
        ["an entry without its pet", "DELETE FROM pets"],
        ["a pet without a name", "UPDATE pets SET name = NULL"],
        ["an order with an unknown status", "UPDATE orders SET status = 'lost'"],
        ["an order with a quantity below zero", "UPDATE orders SET quantity = -1"],
        ["a second head", "INSERT INTO head SELECT 2, environment, 'x', 0, 0, 0 FROM head"],
      ];
      for (const [name, sql] of wrongs) {
        test(name, async () => {
          await add({ petId: 1n, quantity: 1 });
          await store.catalogue.importOrders(batchesOf([orderRow({ id: 1n })]));
          const before = await ledger();
          await expect(place.execute(sql)).rejects.toThrow();
          expect(await ledger()).toEqual(before);
          expect(await entries()).toMatchObject([{ quantity: 1, status: "available" }]);
          await expectSound();
        });
      }
    });
  });
}

function orderRow(order: Partial<OrderRecord> & { id: bigint }, at = 0): OrderRecord {
  return {
    line: at + 1,
    petId: 1n,
    quantity: 1,
    shipDate: null,
    status: "placed",
    complete: false,
    ...order,
  };
}

function keyNamed(id: string): Key {
  return {
    id,
    name: `The key ${id}`,
    plan: "free",
    limits: { perMinute: 60, perDay: 1_000 },
    scopes,
    createdAt: testStart,
    expiresAt: null,
    revokedAt: null,
  };
}

function banOf(keyId: string, startedAt: number, until: number) {
  return { keyId, startedAt, until, liftedAt: null };
}

async function* batchesOf<T>(...batches: readonly (readonly T[])[]): AsyncGenerator<readonly T[]> {
  yield* batches;
}

async function* brokenOff<T>(row: T): AsyncGenerator<readonly T[]> {
  yield [row];
  throw new Error("broken off");
}
