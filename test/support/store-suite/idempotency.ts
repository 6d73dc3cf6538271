import { describe, expect, test } from "bun:test";
import type { Outcome, Unit } from "../../../src/domain/ledger/ledger.ts";
import { unitOf, versionOrReason } from "../units.ts";
import {
  adding,
  addOnce,
  commitTo,
  countKeys,
  expectReplay,
  keptMs,
  keyed,
  storedOf,
} from "./keyed-units.ts";
import type { StoreSuite } from "./suite.ts";

/** Idempotency keys: a unit is stored once, and every other unit with its key gets its result. */
export function describeIdempotency(suite: StoreSuite): void {
  const { add, entries, ledger, expectSound } = suite;
  const commit = (...units: readonly Unit[]) => commitTo(suite.store, ...units);

  describe("a unit with an idempotency key", () => {
    test("is stored once, and a retry gets the first result whatever was stored since", async () => {
      await add({ petId: 1n, quantity: 5, status: "pending" }, { petId: 2n });
      const unit = keyed(
        "a",
        unitOf(
          { petId: 1n, kind: "add", amount: 2, expected: [{ seq: 1 }] },
          { petId: 2n, amount: 8, status: "sold" },
          { petId: 1n, kind: "add", amount: -7 },
        ),
      );
      const { outcomes } = await commit(adding(2n, 1), unit);
      expect(storedOf(outcomes[1])).toMatchObject({ isReplayed: false });
      expect(storedOf(outcomes[1]).entries).toEqual([
        { petId: 1n, quantity: 7, status: "pending", version: 4 },
        { petId: 2n, quantity: 8, status: "sold", version: 5 },
        { petId: 1n, quantity: 0, status: "pending", version: 6 },
      ]);
      await commit(adding(1n, 100), adding(2n, 100));
      await expectReplay(suite.store, unit, outcomes[1]);
      expect(await entries()).toMatchObject([{ quantity: 100 }, { quantity: 108 }]);
      await expectSound();
    });

    test("is found by another store, and by the same one after it was closed", async () => {
      await add({ petId: 1n });
      const other = await suite.place.open();
      const [first] = (await commit(addOnce("a"))).outcomes;
      await expectReplay(other, addOnce("a"), first);
      const [second] = (await commitTo(other, addOnce("b"))).outcomes;
      await expectReplay(suite.store, addOnce("b"), second);
      await other.close();
      await suite.store.close();
      suite.store = await suite.place.open();
      await expectReplay(suite.store, addOnce("a"), first);
      await expectReplay(suite.store, addOnce("b"), second);
      await suite.store.close();
      suite.store = await suite.place.open();
      await suite.store.idempotency.prepare();
      await expectReplay(suite.store, addOnce("b"), second);
      expect(await entries()).toMatchObject([{ quantity: 2 }]);
      await expectSound();
    });

    test("is stored once if two stores commit it at the same moment, however often", async () => {
      await add({ petId: 1n });
      const stores = [suite.store, await suite.place.open(), await suite.place.open()];
      const results = new Map<string, string[]>();
      for (let round = 0; round < 4; round++) {
        const names = Array.from({ length: 6 }, (_, at) => `${round}.${at}`);
        await Promise.all(
          stores.flatMap((store, at) => {
            // Each store sends the keys in another order and in other groups.
            const order = [...names.slice(2 * at), ...names.slice(0, 2 * at)];
            return [order.slice(0, 1 + at), order.slice(1 + at)].map(async (part) => {
              const { outcomes } = await commitTo(store, ...part.map((name) => addOnce(name)));
              for (const [nth, name] of part.entries()) {
                const { entries: got, isReplayed } = storedOf(outcomes[nth]);
                const seen = results.get(name) ?? [];
                results.set(name, [...seen, `${got[0]!.version} ${isReplayed}`]);
              }
            });
          }),
        );
      }
      for (const seen of results.values()) {
        const versions = new Set(seen.map((text) => text.split(" ")[0]));
        expect([versions.size, seen.length]).toEqual([1, 3]);
        expect(seen.filter((text) => text.endsWith("false"))).toHaveLength(1);
      }
      expect(await entries()).toMatchObject([{ quantity: 24, version: 25 }]);
      await expectSound();
    });

    if (!suite.isWhole) return;

    test("is rejected with another request, and then the first result is still there", async () => {
      await add({ petId: 1n });
      const [first] = (await commit(addOnce("a"))).outcomes;
      const { rows, outcomes } = await commit(addOnce("a", 2), addOnce("b", 3));
      expect(outcomes[0]).toEqual({
        kind: "rejected",
        reason: "key_reused",
        index: 0,
        current: undefined,
        epoch: undefined,
      });
      expect(rows).toMatchObject([{ seq: 3, after: { quantity: 4 } }]);
      await expectReplay(suite.store, addOnce("a"), first);
    });

    test("that was rejected is not remembered, in the same group or later", async () => {
      await add({ petId: 1n });
      const taking = keyed("a", adding(1n, -1));
      expect((await commit(taking, taking)).outcomes.map(versionOrReason)).toEqual([
        "out_of_range",
        "out_of_range",
      ]);
      expect(await countKeys(suite.store)).toBe(0);
      const { outcomes } = await commit(taking, adding(1n, 1), taking, taking);
      expect(outcomes.map(versionOrReason)).toEqual(["out_of_range", 2, 3, 3]);
      expect(outcomes.slice(2)).toMatchObject([{ isReplayed: false }, { isReplayed: true }]);
      await expectReplay(suite.store, taking, outcomes[2]);
      await expectSound();
    });

    test("is stored once if it is several times in a group, among others", async () => {
      await add({ petId: 1n }, { petId: 2n });
      const { rows, outcomes } = await commit(
        addOnce("a"),
        addOnce("b"),
        adding(2n, 1),
        addOnce("a"),
        addOnce("a", 9),
        addOnce("b"),
      );
      expect(outcomes.map(versionOrReason)).toEqual([3, 4, 5, 3, "key_reused", 4]);
      expect(rows.map(({ seq }) => seq)).toEqual([3, 4, 5]);
      await expectReplay(suite.store, addOnce("b"), outcomes[1]);
      await expectSound();
    });

    test("is stored once if it is a plain update, several times in a group", async () => {
      const setting = (petId: bigint, amount: number) => unitOf({ petId, amount });
      await add({ petId: 1n }, { petId: 2n });
      await suite.store.idempotency.prepare();
      // From here on, PostgreSQL applies plain updates itself.
      await commit(setting(2n, 1));
      const setOnce = (key: string, quantity: number) => keyed(key, setting(1n, quantity));
      const { rows, outcomes } = await commit(
        setOnce("a", 5),
        setting(2n, 2),
        setOnce("a", 5),
        setOnce("a", 6),
      );
      expect(outcomes.map(versionOrReason)).toEqual([4, 5, 4, "key_reused"]);
      expect(rows.map(({ seq }) => seq)).toEqual([4, 5]);
      expect(await entries()).toMatchObject([{ quantity: 5 }, { quantity: 2 }]);
      expect(await countKeys(suite.store)).toBe(1);
      await expectReplay(suite.store, setOnce("a", 5), outcomes[0]);
      await expectSound();
    });

    test("is a new one after its time, also if its row was not deleted yet", async () => {
      await add({ petId: 1n });
      const [first] = (await commit(addOnce("a"))).outcomes;
      suite.clock.advance(keptMs);
      await expectReplay(suite.store, addOnce("a"), first);
      suite.clock.advance(1);
      const other = await suite.place.open();
      const { outcomes } = await commitTo(other, addOnce("a", 5), addOnce("a", 5));
      expect(outcomes).toMatchObject([
        { isReplayed: false, entries: [{ quantity: 6, version: 3 }] },
        { isReplayed: true, entries: [{ quantity: 6, version: 3 }] },
      ]);
      // From now on the key belongs to the newer request, in every store.
      for (const store of [suite.store, other]) {
        await expectReplay(store, addOnce("a", 5), outcomes[0]);
        expect((await commitTo(store, addOnce("a"))).outcomes.map(versionOrReason)).toEqual([
          "key_reused",
        ]);
      }
      await expectSound();
    });

    test("may have a thousand changes, and a group a thousand such retries", async () => {
      const ids = Array.from({ length: 1_000 }, (_, at) => BigInt(at));
      await add(...ids.map((petId) => ({ petId })));
      const batch = keyed(
        "batch",
        unitOf(...ids.map((petId) => ({ petId, kind: "add" as const, amount: Number(petId) }))),
      );
      const singles = ids.map((petId) => keyed(`single ${petId}`, adding(petId, 1)));
      const [first] = (await commit(batch)).outcomes;
      const { outcomes } = await commit(...singles);
      expect(storedOf(first).entries).toHaveLength(1_000);
      const other = await suite.place.open();
      await expectReplay(other, batch, first);
      const again = await commitTo(other, ...singles.toReversed(), batch);
      expect(again.rows).toEqual([]);
      const replayed = (outcome: Outcome) => ({ ...storedOf(outcome), isReplayed: true });
      expect(again.outcomes).toEqual([...outcomes.toReversed().map(replayed), replayed(first!)]);
      expect(await ledger()).toHaveLength(1_000);
      await expectSound();
    });

    test("keeps the epoch of its rows after another epoch has begun", async () => {
      await add({ petId: 1n });
      const [first] = (await commit(addOnce("a"))).outcomes;
      await suite.store.close();
      suite.store = await suite.place.open();
      await commit(adding(1n, 5));
      await expectReplay(suite.store, addOnce("a"), first);
    });
  });
}
