import { describe, expect, test } from "bun:test";
import { listHistory } from "../../../src/domain/history/history.ts";
import type { Entry } from "../../../src/domain/ledger/inventory.ts";
import { startCheckpoints } from "../../../src/domain/snapshots/checkpoints.ts";
import { sliceEntries } from "../../../src/domain/snapshots/columns.ts";
import { packPart } from "../../../src/domain/snapshots/parts.ts";
import type { Store } from "../../../src/domain/store.ts";
import { int64Max, int64Min } from "../../../src/domain/values/int64.ts";
import { verify } from "../../../src/domain/verification/verify.ts";
import {
  columnsOf,
  foldedAt,
  foldedDifferences,
  readDifferences,
  readInventory,
} from "../snapshots.ts";
import type { StoreSuite } from "./suite.ts";

const part = (firstPetId: bigint, data = "data") => ({ firstPetId, data: Buffer.from(data) });

async function addCheckpointsTo(
  store: Store,
  rowsMin: number,
  failures: string[] = [],
): Promise<void> {
  const log = (event: string) => void failures.push(event);
  const task = startCheckpoints({ store, log, rowsMin });
  await task.run();
  await task.stop();
}

/** Every method that writes checkpoints. */
export function describeCheckpointWrites(suite: StoreSuite): void {
  const { add } = suite;
  const checkpoints = () => suite.store.checkpoints;

  describe("checkpoints", () => {
    test("are visible once they are complete, with parts in the order of their ids", async () => {
      await add({ petId: 1n }, { petId: 2n });
      const { epoch } = await suite.store.inventory.readHead();
      expect(await checkpoints().findCheckpoint(9)).toBeUndefined();
      expect(await checkpoints().claim("one")).toBe(true);
      for (const petId of [5n, int64Max, int64Min, -1n]) {
        expect(await checkpoints().addPart("one", 2, part(petId, `from ${petId}`))).toBe(true);
      }
      expect(await checkpoints().listCheckpoints()).toEqual([]);
      expect(await checkpoints().complete("one", { epoch, seq: 2 }, 7)).toBe(true);
      expect(await checkpoints().listCheckpoints()).toEqual([{ seq: 2, entries: 7 }]);
      expect(await checkpoints().findCheckpoint(1)).toBeUndefined();
      expect(await checkpoints().findCheckpoint(2)).toEqual({ seq: 2, entries: 7 });
      const found: string[] = [];
      let after: bigint | null = null;
      for (;;) {
        const some = await checkpoints().partsAfter(2, after, 3);
        if (some.length === 0) break;
        found.push(...some.map(({ data }) => Buffer.from(data).toString()));
        after = some.at(-1)!.firstPetId;
      }
      expect(found).toEqual([int64Min, -1n, 5n, int64Max].map((petId) => `from ${petId}`));
    });

    test("have one writer: when another takes over, the first can write nothing", async () => {
      await add({ petId: 1n });
      const { epoch } = await suite.store.inventory.readHead();
      const other = (await suite.place.open()).checkpoints;
      await checkpoints().claim("one");
      await checkpoints().addPart("one", 1, part(1n));
      suite.clock.advance(60_000);
      expect(await other.claim("two")).toBe(true);
      expect(await checkpoints().addPart("one", 1, part(2n))).toBe(false);
      expect(await checkpoints().removeUnfinished("one", 9)).toBe(false);
      expect(await checkpoints().complete("one", { epoch, seq: 1 }, 1)).toBe(false);
      expect(await other.partsAfter(1, null, 9)).toHaveLength(1);
      expect(await other.removeUnfinished("two", 9)).toBe(1);
      expect(await other.addPart("two", 1, part(3n))).toBe(true);
      expect(await other.complete("two", { epoch, seq: 1 }, 1)).toBe(true);
      expect(await checkpoints().partsAfter(1, null, 9)).toMatchObject([{ firstPetId: 3n }]);
    });

    if (!suite.isWhole) return;

    test("have another writer as soon as a clock is corrected that was ahead", async () => {
      const other = (await suite.place.open()).checkpoints;
      suite.clock.advance(400 * 86_400_000);
      await checkpoints().claim("one");
      suite.clock.advance(-400 * 86_400_000);
      expect(await other.claim("two")).toBe(true);
      expect(await checkpoints().removeUnfinished("one", 9)).toBe(false);
    });

    test("are not stored for another epoch, or for a row that the ledger does not have", async () => {
      await add({ petId: 1n });
      const { epoch } = await suite.store.inventory.readHead();
      await checkpoints().claim("one");
      const another = epoch.replace(/.$/, (last) => (last === "9" ? "8" : "9"));
      expect(await checkpoints().complete("one", { epoch: another, seq: 1 }, 1)).toBe(false);
      expect(await checkpoints().complete("one", { epoch, seq: 2 }, 1)).toBe(false);
      expect(await checkpoints().listCheckpoints()).toEqual([]);
    });
  });
}

/** Checkpoints as a store keeps them, and the inventories that are made from them. */
export function describeCheckpoints(suite: StoreSuite): void {
  const { add, set, expectSound } = suite;
  const checkpoints = () => suite.store.checkpoints;
  const failures: string[] = [];
  const addCheckpoints = (rowsMin: number, store: Store = suite.store) =>
    addCheckpointsTo(store, rowsMin, failures);

  describe("checkpoints", () => {
    test("leave nothing behind when their writer ends half-way, and keep those that are complete", async () => {
      await add(...Array.from({ length: 30 }, (_, at) => ({ petId: BigInt(at), quantity: at })));
      await addCheckpoints(10);
      const complete = await checkpoints().listCheckpoints();
      expect(complete.map(({ seq }) => seq)).toEqual([10, 20, 30]);
      await suite.store.inventory.commit(Array.from({ length: 15 }, (_, at) => set(1n, at)));
      await checkpoints().claim("ended");
      for (let at = 0; at < 40; at++) await checkpoints().addPart("ended", 45, part(BigInt(at)));
      suite.clock.advance(60_000);
      await addCheckpoints(10);
      expect(await checkpoints().listCheckpoints()).toEqual([
        ...complete,
        { seq: 45, entries: 30 },
      ]);
      expect(await checkpoints().partsAfter(45, null, 50)).toHaveLength(1);
      const ledger = await suite.store.inventory.ledgerAfter(0, 100);
      expect(await readInventory(suite.store, 45)).toEqual(foldedAt(ledger, 45));
      await expectSound();
    });

    test("added by two processes at once are those of one process", async () => {
      await add(...Array.from({ length: 40 }, (_, at) => ({ petId: BigInt(at), quantity: at })));
      const other = await suite.place.open();
      // On SQLite the lock may be taken. The service tries again later.
      await Promise.allSettled([addCheckpoints(7), addCheckpoints(7, other)]);
      suite.clock.advance(60_000);
      await addCheckpoints(7);
      const found = await checkpoints().listCheckpoints();
      expect(found).toEqual([7, 14, 21, 32].map((seq) => ({ seq, entries: seq })));
      expect(await other.checkpoints.listCheckpoints()).toEqual(found);
      const ledger = await suite.store.inventory.ledgerAfter(0, 100);
      for (const { seq } of found)
        expect(await readInventory(other, seq)).toEqual(foldedAt(ledger, seq));
      await expectSound();
    });

    test("and the rows after them give the inventory of every moment, and its differences", async () => {
      await add({ petId: 1n, quantity: 5 }, { petId: -7n, status: "pending" }, { petId: int64Max });
      for (let round = 0; round < 8; round++) {
        await suite.store.inventory.commit([set(1n, round), set(int64Max, 3 * round)]);
        if (round % 3 === 0) await add({ petId: BigInt(round), quantity: 1, status: "sold" });
      }
      await addCheckpoints(6);
      expect((await checkpoints().listCheckpoints()).length).toBeGreaterThan(2);
      const ledger = await suite.store.inventory.ledgerAfter(0, 100);
      for (let seq = 0; seq <= ledger.length; seq++) {
        expect(await readInventory(suite.store, seq)).toEqual(foldedAt(ledger, seq));
        const to = (seq * 11) % (ledger.length + 1);
        const differences = foldedDifferences(ledger, seq, to);
        expect(await readDifferences(suite.store, seq, to)).toEqual(differences);
        expect(await readDifferences(suite.store, seq, to, 0)).toEqual(differences);
      }
      expect(failures).toEqual([]);
    });
  });
}

/** What is made from the rows and parts that were read, whatever the engine. */
export function describeCheckpointRules(suite: StoreSuite): void {
  const { add, set, expectSound } = suite;
  const checkpoints = () => suite.store.checkpoints;
  const addCheckpoints = (rowsMin: number) => addCheckpointsTo(suite.store, rowsMin);

  describe("checkpoints", () => {
    test("are where a search in a pet's history starts, so that few rows are read", async () => {
      await add({ petId: 1n, quantity: 0 }, { petId: 2n }, { petId: 3n });
      for (let at = 0; at < 20; at++)
        await suite.store.inventory.commit([set(1n, at), set(2n, at)]);
      await addCheckpoints(10);
      const seqs = (await suite.store.history.petRows(1n, 42, 100)).map(({ seq }) => seq);
      let searched = 0;
      const { petRowBefore } = suite.store.history;
      const history: Store["history"] = {
        ...suite.store.history,
        petRowBefore(petId, fromSeq, before, stepsMax) {
          searched = Math.max(searched, fromSeq - before);
          return petRowBefore(petId, fromSeq, before, stepsMax);
        },
      };
      const store = { ...suite.store, history };
      // Odd rows from 5 on belong to another pet, so the search cannot start there.
      for (let before = 1; before <= 44; before++) {
        const { rows } = await listHistory({ store }, 1n, { before, limit: 3 });
        expect(rows.map(({ seq }) => seq)).toEqual(seqs.filter((seq) => seq < before).slice(0, 3));
      }
      expect(searched).toBeLessThan(10);
    });

    test("that differ from the ledger are found and named by verify", async () => {
      await add({ petId: 1n, quantity: 5 }, { petId: 2n }, { petId: 3n });
      const { epoch } = await suite.store.inventory.readHead();
      const entries = foldedAt(await suite.store.inventory.ledgerAfter(0, 10), 3);
      const [one, two, three] = entries as [Entry, Entry, Entry];
      const wrong: [Entry[], ...faults: string[]][] = [
        [entries],
        [
          [{ ...one, quantity: 6 }, two, three],
          "pet 1: 6 available at version 1; expected 5 available at version 1",
        ],
        [
          [one, { ...two, status: "sold" }, three],
          "pet 2: 0 sold at version 2; expected 0 available at version 2",
        ],
        [
          [one, two, { ...three, version: 2 }],
          "pet 3: 0 available at version 2; expected 0 available at version 3",
        ],
        [[one, three], "pet 2: has no entry; expected 0 available at version 2"],
        [
          [...entries, { ...one, petId: 9n }],
          "pet 9: 5 available at version 1; expected nothing: the ledger has no row of it",
        ],
        [[two, one, three], "pet 1: comes after pet 2; expected ascending ids"],
      ];
      for (const [stored, ...faults] of wrong) {
        await suite.place.execute("DELETE FROM checkpoints");
        await checkpoints().claim("one");
        await checkpoints().removeUnfinished("one", 9);
        await checkpoints().addPart("one", 3, {
          firstPetId: 0n,
          data: packPart(columnsOf(stored)),
        });
        await checkpoints().complete("one", { epoch, seq: 3 }, stored.length);
        const verified = await suite.store.transfer.snapshot(verify);
        expect(verified.faults).toEqual(faults.map((fault) => `checkpoint 3, ${fault}`));
      }
      await checkpoints().claim("one");
      await checkpoints().addPart("one", 2, part(0n, "not packed"));
      await checkpoints().complete("one", { epoch, seq: 2 }, 0);
      await suite.place.execute("INSERT INTO checkpoints (seq, entries) VALUES (7, 0)");
      const { faults } = await suite.store.transfer.snapshot(verify);
      expect(faults[0]).toStartWith("checkpoint 2: the part from pet 0 cannot be read: ");
      expect(faults).toContain("checkpoint 7: is after the ledger; expected row 3 at the latest");
    });

    test("of many parts give the whole inventory in order", async () => {
      const count = sliceEntries + 2;
      const petId = (at: number) => BigInt((at * 7_919) % count) - BigInt(count / 2);
      await add(...Array.from({ length: count }, (_, at) => ({ petId: petId(at), quantity: at })));
      await addCheckpoints(count);
      await suite.store.inventory.commit([set(petId(1), 9), set(petId(count - 1), 8)]);
      await add({ petId: int64Min }, { petId: int64Max });
      const parts = await checkpoints().partsAfter(count, null, 10);
      expect(parts.map(({ firstPetId }) => firstPetId)).toEqual(
        [0, 1].map((at) => BigInt(at * sliceEntries - count / 2)),
      );
      const expected = await suite.store.inventory.entriesAfter(null, 2 * count);
      expect(await readInventory(suite.store, count + 4)).toEqual([...expected]);
      const differences = await readDifferences(suite.store, count, count + 4, 0);
      expect(
        differences.map((one) => [one.petId, one.before?.quantity, one.after?.quantity]),
      ).toEqual([
        [int64Min, undefined, 0],
        ...[petId(1), petId(count - 1)]
          .sort((one, other) => (one < other ? -1 : 1))
          .map((id) => (id === petId(1) ? [id, 1, 9] : [id, count - 1, 8])),
        [int64Max, undefined, 0],
      ] as never);
      await expectSound();
    });
  });
}
