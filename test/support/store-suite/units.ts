import { describe, expect, test } from "bun:test";
import { quantityMax } from "../../../src/domain/ledger/inventory.ts";
import type { Committed, Unit } from "../../../src/domain/ledger/ledger.ts";
import { unitOf, versionOrReason } from "../units.ts";
import type { StoreSuite } from "./suite.ts";

const adding = (petId: bigint, amount: number) => unitOf({ petId, kind: "add", amount });

/** Units of one or more changes: what is stored, what is rejected, and what is returned. */
export function describeUnits(suite: StoreSuite): void {
  const { add, ledger, entries, set, expectSound } = suite;
  const commit = (...units: readonly Unit[]) => suite.store.inventory.commit(units);

  describe("a unit of several changes", () => {
    test("is stored whole, in its order, and returns the rows and entries that were stored", async () => {
      await add({ petId: 1n, quantity: 5, status: "pending" }, { petId: 2n, quantity: 3 });
      const { epoch, rows, outcomes } = await commit(
        unitOf(
          { petId: 2n, kind: "add", amount: 4, reason: "delivery" },
          { petId: 1n, amount: 9, reason: "count" },
        ),
        set(2n, 1, "last"),
      );
      const stored = await suite.store.inventory.ledgerAfter(2, 10);
      expect(epoch).toBe((await suite.store.inventory.readHead()).epoch);
      expect(rows).toMatchObject(
        stored.map(({ seq, petId, after }) => ({ seq, petId, after: { ...after } })),
      );
      expect(stored).toMatchObject([
        { seq: 3, petId: 2n, previous: 2, requestId: "req_unit", reason: "delivery" },
        { seq: 4, petId: 1n, previous: 1, requestId: "req_unit", reason: "count" },
        { seq: 5, petId: 2n, previous: 3, requestId: "req_1", reason: "last" },
      ]);
      expect(outcomes).toEqual([
        {
          kind: "stored",
          entries: [
            { petId: 2n, quantity: 7, status: "available", version: 3 },
            { petId: 1n, quantity: 9, status: "pending", version: 4 },
          ],
          epoch,
          isReplayed: false,
        },
        {
          kind: "stored",
          entries: [{ petId: 2n, quantity: 1, status: "available", version: 5 }],
          epoch,
          isReplayed: false,
        },
      ]);
      expect(await entries()).toEqual([
        { petId: 1n, quantity: 9, status: "pending", version: 4 },
        { petId: 2n, quantity: 1, status: "available", version: 5 },
      ]);
      await expectSound();
    });

    test("is rejected whole, and its neighbours in the group are stored as if it were not there", async () => {
      await add({ petId: 1n, quantity: 1 }, { petId: 2n, quantity: 2 });
      const { rows, outcomes } = await commit(
        adding(1n, 10),
        unitOf(
          { petId: 1n, kind: "add", amount: 100 },
          { petId: 2n, amount: 50 },
          { petId: 1n, kind: "add", amount: 1 },
          { petId: 9n, amount: 1 },
        ),
        adding(1n, 10),
        adding(2n, 5),
      );
      expect(outcomes).toEqual([
        expect.objectContaining({ kind: "stored" }),
        { kind: "rejected", reason: "not_found", index: 3, current: undefined },
        expect.objectContaining({ kind: "stored" }),
        expect.objectContaining({ kind: "stored" }),
      ]);
      expect(rows.map(({ seq, petId }) => [seq, petId])).toEqual([
        [3, 1n],
        [4, 1n],
        [5, 2n],
      ]);
      expect(await entries()).toMatchObject([{ quantity: 21, version: 4 }, { quantity: 7 }]);
      expect((await ledger()).map(({ previous }) => previous)).toEqual([null, null, 1, 3, 2]);
      await expectSound();
    });

    if (!suite.isWhole) return;

    test("sees its own earlier changes and those of the units before it", async () => {
      await add({ petId: 1n, quantity: 10 });
      await commit(
        unitOf({ petId: 1n, kind: "add", amount: -4 }, { petId: 1n, kind: "add", amount: -6 }),
        adding(1n, 3),
      );
      const rows = (await ledger()).slice(1);
      const quantities = rows.map(({ before, after }) => [before?.quantity, after?.quantity]);
      expect(quantities).toEqual([
        [10, 6],
        [6, 0],
        [0, 3],
      ]);
      await expectSound();
    });

    test("may have a thousand changes", async () => {
      const ids = Array.from({ length: 1_000 }, (_, at) => BigInt(at));
      await add(...ids.map((petId) => ({ petId, quantity: 1 })));
      const { rows, outcomes } = await commit(
        unitOf(...ids.map((petId) => ({ petId, kind: "add" as const, amount: Number(petId) }))),
      );
      expect(rows.map(({ seq }) => seq)).toEqual(ids.map((id) => Number(id) + 1_001));
      expect(outcomes).toMatchObject([
        { entries: ids.map((petId) => ({ petId, quantity: Number(petId) + 1 })) },
      ]);
      await expectSound();
    });
  });
}

/** What is decided from the entries that were read, whatever the engine. */
export function describeUnitRules(suite: StoreSuite): void {
  const { add, ledger, entries, expectSound } = suite;
  const commit = (...units: readonly Unit[]) => suite.store.inventory.commit(units);

  /** Commits units that must all be rejected, and asserts that nothing changed. */
  async function expectRejected(...units: readonly Unit[]): Promise<Committed["outcomes"]> {
    const before = [await suite.store.inventory.readHead(), await ledger(), await entries()];
    const { rows, outcomes } = await commit(...units);
    expect(rows).toEqual([]);
    expect([await suite.store.inventory.readHead(), await ledger(), await entries()]).toEqual(
      before,
    );
    return outcomes;
  }

  describe("an addition", () => {
    test("goes down to 0 and up to 2^53 - 1", async () => {
      await add({ petId: 1n, quantity: 5 });
      const { outcomes } = await commit(adding(1n, -5), adding(1n, quantityMax), adding(1n, 0));
      expect(outcomes.map(versionOrReason)).toEqual([2, 3, 4]);
      expect(await entries()).toMatchObject([{ quantity: quantityMax }]);
      await expectSound();
    });

    test("below 0 or above 2^53 - 1 is rejected with its index, the stored entry and the quantity", async () => {
      await add({ petId: 1n, quantity: 5 }, { petId: 2n, quantity: quantityMax });
      const [one, two] = await entries();
      const outcomes = await expectRejected(
        adding(1n, -6),
        adding(2n, 1),
        adding(2n, quantityMax),
        unitOf({ petId: 1n, amount: 7 }, { petId: 1n, kind: "add", amount: -8 }),
        unitOf({ petId: 1n, amount: -1 }),
      );
      const outOfRange = { kind: "rejected", reason: "out_of_range" };
      expect(outcomes as unknown).toEqual([
        { ...outOfRange, index: 0, current: one, quantity: -1 },
        { ...outOfRange, index: 0, current: two, quantity: quantityMax + 1 },
        { ...outOfRange, index: 0, current: two, quantity: 2 * quantityMax },
        { ...outOfRange, index: 1, current: one, quantity: -1 },
        { ...outOfRange, index: 0, current: one, quantity: -1 },
      ]);
    });
  });

  describe("expected versions", () => {
    test("accept the version that is stored, also as one of several", async () => {
      await add({ petId: 1n }, { petId: 2n });
      const { outcomes } = await commit(
        unitOf({ petId: 1n, amount: 1, expected: [{ seq: 1 }] }),
        unitOf({ petId: 1n, amount: 2, expected: [{ seq: 7 }, { seq: 3 }, { seq: 1 }] }),
        unitOf({ petId: 2n, amount: 3, expected: undefined }),
      );
      expect(outcomes.map(versionOrReason)).toEqual([3, 4, 5]);
    });

    test("reject every other version with the stored entry, before the range is checked", async () => {
      await add({ petId: 1n, quantity: 5 }, { petId: 2n });
      const [one, two] = await entries();
      const outcomes = await expectRejected(
        unitOf({ petId: 1n, amount: 1, expected: [{ seq: 2 }] }),
        unitOf({ petId: 1n, amount: 1, expected: [] }),
        unitOf({ petId: 1n, kind: "add", amount: -9, expected: [{ seq: 9 }] }),
        unitOf({ petId: 1n, amount: 1 }, { petId: 2n, amount: 1, expected: [{ seq: 1 }] }),
        unitOf({ petId: 9n, amount: 1, expected: [{ seq: 1 }] }),
      );
      const [{ epoch } = { epoch: "" }] = (await suite.store.inventory.listEpochs()).slice(-1);
      const mismatch = { kind: "rejected", reason: "version_mismatch", epoch };
      expect(outcomes as unknown).toEqual([
        { ...mismatch, index: 0, current: one },
        { ...mismatch, index: 0, current: one },
        { ...mismatch, index: 0, current: one },
        { ...mismatch, index: 1, current: two },
        { kind: "rejected", reason: "not_found", index: 0, current: undefined },
      ]);
    });

    test("allow only one of two units in a group", async () => {
      await add({ petId: 1n });
      const { outcomes } = await commit(
        unitOf({ petId: 1n, amount: 1, expected: [{ seq: 1 }] }),
        unitOf({ petId: 1n, amount: 2, expected: [{ seq: 1 }] }),
      );
      expect(outcomes.map(versionOrReason)).toEqual([2, "version_mismatch"]);
      expect(outcomes[1]).toMatchObject({ current: { quantity: 1, version: 2 } });
      expect(await entries()).toMatchObject([{ quantity: 1 }]);
    });
  });
}
