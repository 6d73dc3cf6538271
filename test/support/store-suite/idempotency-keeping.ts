import { describe, expect, test } from "bun:test";
import { pageRowsMin } from "../../../src/domain/ledger/idempotency.ts";
import type { Unit } from "../../../src/domain/ledger/ledger.ts";
import type { Store } from "../../../src/domain/store.ts";
import { versionOrReason } from "../units.ts";
import { addOnce, commitTo, countKeys, expectReplay, keptMs, storedOf } from "./keyed-units.ts";
import type { StoreSuite } from "./suite.ts";

/** How long idempotency keys are kept, and how a store reads those of an earlier process. */
export function describeIdempotencyKeeping(suite: StoreSuite): void {
  const { add, entries, expectSound } = suite;
  const commit = (...units: readonly Unit[]) => commitTo(suite.store, ...units);

  describe("keys that have expired", () => {
    test("are deleted while updates run, and no update is executed twice or lost", async () => {
      await add({ petId: 1n });
      const other = await suite.place.open();
      const prune = (store: Store) =>
        store.idempotency.prune(suite.clock.now() - keptMs, 3).catch((error: unknown) => {
          // It does not wait for other writers. The service tries again later.
          expect(error).toMatchObject({ code: "unavailable" });
          return 0;
        });
      let pruned = 0;
      for (let round = 0; round < 12; round++) {
        suite.clock.advance(keptMs / 4);
        const names = Array.from({ length: 5 }, (_, at) => `${round}.${at}`);
        const pruning = [prune(other), prune(suite.store)];
        const groups = await Promise.all(
          [suite.store, other, suite.store].map((store) =>
            commitTo(store, ...names.map((name) => addOnce(name))),
          ),
        );
        for (const count of await Promise.all(pruning)) pruned += count;
        const versions = groups.map(({ outcomes }) => outcomes.map(versionOrReason));
        expect(new Set(versions.map(String)).size).toBe(1);
      }
      expect(await entries()).toMatchObject([{ quantity: 60 }]);
      expect(pruned + (await countKeys(suite.store))).toBe(12);
      expect(pruned).toBeGreaterThan(4);
      await expectSound();
    });

    if (!suite.isWhole) return;

    test("are deleted in steps, the oldest first, and can then be used again", async () => {
      await add({ petId: 1n });
      for (let at = 0; at < 5; at++) {
        await commit(addOnce(`old ${at}`), addOnce(`old ${at}, too`));
        suite.clock.advance(10);
      }
      const before = suite.clock.now();
      const [kept] = (await commit(addOnce("kept"))).outcomes;
      const other = await suite.place.open();
      await other.idempotency.prepare();
      const { prune } = suite.store.idempotency;
      expect([await prune(before, 2), await countKeys(suite.store)]).toEqual([2, 4]);
      expect([await prune(before, 2), await other.idempotency.prune(0, 10)]).toEqual([2, 0]);
      expect([
        await prune(before, 2),
        await prune(before, 2),
        await countKeys(suite.store),
      ]).toEqual([1, 0, 1]);
      for (const store of [suite.store, other]) await expectReplay(store, addOnce("kept"), kept);
      // The other store still has deleted keys in memory.
      const { rows } = await commitTo(other, addOnce("old 0", 7), addOnce("old 4, too"));
      expect(rows).toHaveLength(2);
      expect(await prune(suite.clock.now() + 1, 10)).toBe(2);
      expect(await countKeys(suite.store)).toBe(0);
      expect((await commit(addOnce("kept"))).rows).toHaveLength(1);
      await expectSound();
    });
  });

  test("keys can be read into memory while updates run", async () => {
    await add({ petId: 1n });
    // More rows than are read at a time.
    const count = pageRowsMin + 30;
    const names = Array.from({ length: count }, (_, at) => `${at}`);
    for (const name of names) await commit(addOnce(name));
    const other = await suite.place.open();
    const [, , ...again] = await Promise.all([
      other.idempotency.prepare(),
      other.idempotency.prepare(),
      ...names.slice(-20).map((name) => commitTo(other, addOnce(name), addOnce("0"))),
      ...names.slice(-20).map((name) => commit(addOnce(`more ${name}`))),
    ]);
    expect(again).toHaveLength(40);
    expect(await entries()).toMatchObject([{ quantity: count + 20 }]);
    await expectSound();
  });

  if (!suite.isWhole) return;

  test("a store that received another one's rows knows its keys", async () => {
    await add({ petId: 1n });
    const [first] = (await commit(addOnce("a"))).outcomes;
    const elsewhere = await suite.enterAnother();
    try {
      const copy = await elsewhere.open();
      await suite.store.transfer.snapshot(({ rowsOf }) => copy.transfer.importTables(rowsOf));
      const { rows, outcomes } = await commitTo(copy, addOnce("a"));
      expect(rows).toEqual([]);
      expect(storedOf(outcomes[0])).toMatchObject({
        isReplayed: true,
        entries: storedOf(first).entries,
      });
    } finally {
      await elsewhere.remove();
    }
  });
}
