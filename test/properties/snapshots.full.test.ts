import { expect, test } from "bun:test";
import fc from "fast-check";
import { petStatuses } from "../../src/domain/ledger/inventory.ts";
import { createStockChanges } from "../../src/domain/snapshots/changes.ts";
import { nextCheckpointSeq, startCheckpoints } from "../../src/domain/snapshots/checkpoints.ts";
import { entriesOf, stockAt } from "../../src/domain/snapshots/columns.ts";
import { packPart, unpackPart } from "../../src/domain/snapshots/parts.ts";
import { inventoryAt } from "../../src/domain/snapshots/snapshots.ts";
import { int64Max, int64Min } from "../../src/domain/values/int64.ts";
import { sortedIndexes } from "../../src/domain/values/int64-arrays.ts";
import { runs } from "../support/properties/runs.ts";
import {
  columnsOf,
  createArchive,
  foldedAt,
  foldedDifferences,
  readDifferences,
  readInventory,
} from "../support/snapshots.ts";

const petId = fc.oneof(
  fc.constantFrom(int64Min, -1n, 0n, 2n ** 53n + 1n, int64Max),
  fc.bigInt({ min: -6n, max: 6n }),
);
const stock = fc.record({
  quantity: fc.oneof(fc.nat(2), fc.maxSafeNat()),
  status: fc.constantFrom(...petStatuses),
});
const ledger = fc.array(fc.record({ petId, after: fc.option(stock, { nil: null, freq: 4 }) }), {
  minLength: 1,
  maxLength: 60,
});

const silent = () => {};

test("the inventory of every moment, and what differs between any two, is the fold of the ledger", async () => {
  await fc.assert(
    fc.asyncProperty(ledger, fc.integer({ min: 1, max: 12 }), async (changes, rowsMin) => {
      const archive = createArchive();
      const task = startCheckpoints({ store: archive, log: silent, rowsMin });
      for (const { petId: id, after } of changes) {
        // A removed pet has no stock to remove again.
        if (after || foldedAt(archive.rows, Infinity).some((entry) => entry.petId === id)) {
          archive.add(id, after);
        }
      }
      await task.run();
      await task.stop();
      const { rows } = archive;
      for (let seq = 0; seq <= rows.length; seq++) {
        expect(await readInventory(archive, seq)).toEqual(foldedAt(rows, seq));
        const to = (seq * 7) % (rows.length + 1);
        const expected = foldedDifferences(rows, seq, to);
        expect(await readDifferences(archive, seq, to)).toEqual(expected);
        expect(await readDifferences(archive, seq, to, 0)).toEqual(expected);
      }
    }),
    runs(40),
  );
});

test("a part has the entries that were packed", async () => {
  const entry = fc.record({
    petId: fc.bigInt({ min: int64Min, max: int64Max }),
    stock,
    version: fc.maxSafeNat(),
  });
  await fc.assert(
    fc.property(fc.uniqueArray(entry, { selector: (one) => one.petId, maxLength: 40 }), (some) => {
      const entries = some.map(({ petId: id, stock: { quantity, status }, version }) => ({
        petId: id,
        quantity,
        status,
        version,
      }));
      expect(entriesOf(unpackPart(packPart(columnsOf(entries))))).toEqual(entries);
    }),
    runs(200),
  );
});

test("ids are sorted as 64-bit integers", async () => {
  const ids = fc.array(fc.oneof(petId, fc.bigInt({ min: int64Min, max: int64Max })));
  await fc.assert(
    fc.asyncProperty(ids, async (some) => {
      const array = BigInt64Array.from(some);
      const order = await sortedIndexes(array);
      expect(Array.from(order, (index) => array[index])).toEqual([...array.toSorted()]);
    }),
    runs(200),
  );
});

test("checkpoints follow the ledger at distances that grow with the inventory", async () => {
  const archive = createArchive();
  const task = startCheckpoints({ store: archive, log: silent, rowsMin: 10 });
  for (let at = 0; at < 100; at++) archive.add(BigInt(at), { quantity: at, status: "sold" });
  for (let at = 0; at < 100; at++) archive.add(BigInt(at), { quantity: 0, status: "sold" });
  await task.run();
  const found = await archive.checkpoints.listCheckpoints();
  expect(found.map(({ seq }) => seq)).toEqual([10, 20, 30, 45, 68, 102, 152]);
  expect(nextCheckpointSeq(found.at(-1), 10)).toBe(202);
  await task.run();
  expect(await archive.checkpoints.listCheckpoints()).toHaveLength(7);
  await task.stop();
});

test("a checkpoint is not stored if the store is replaced while it is made", async () => {
  const archive = createArchive();
  for (let at = 0; at < 20; at++) archive.add(BigInt(at), { quantity: at, status: "sold" });
  const { addPart, complete } = archive.checkpoints;
  const positions: number[] = [];
  const replaced = {
    ...archive.checkpoints,
    addPart: (...args: Parameters<typeof addPart>) => {
      archive.epoch = "second";
      return addPart(...args);
    },
    complete: (...args: Parameters<typeof complete>) => {
      positions.push(args[1].seq);
      return complete(...args);
    },
  };
  const store = { inventory: archive.inventory, checkpoints: replaced };
  const task = startCheckpoints({ store, log: silent, rowsMin: 10 });
  await task.run();
  expect(positions).toEqual([10]);
  expect(await archive.checkpoints.listCheckpoints()).toEqual([]);
  await task.run();
  expect(await archive.checkpoints.listCheckpoints()).toEqual([
    { seq: 10, entries: 10 },
    { seq: 20, entries: 20 },
  ]);
  expect(await readInventory(archive, 20)).toEqual(foldedAt(archive.rows, 20));
  await task.stop();
});

test("an inventory of an epoch that has ended, and one of a damaged checkpoint, is not shown", async () => {
  const archive = createArchive();
  const task = startCheckpoints({ store: archive, log: silent, rowsMin: 10 });
  for (let at = 0; at < 20; at++) archive.add(BigInt(at), { quantity: at, status: "sold" });
  await task.run();
  await task.stop();
  const slices = await inventoryAt(archive, { epoch: "first", seq: 15 });
  archive.epoch = "second";
  expect(Array.fromAsync(slices)).rejects.toThrow("cannot be reached");
  expect(inventoryAt(archive, { epoch: "first", seq: 15 })).rejects.toThrow("cannot be reached");
  const [part] = archive.parts.get(10)!;
  part!.data[part!.data.length >> 1]! ^= 1;
  expect(readInventory(archive, 15)).rejects.toThrow("damaged");
  archive.parts.delete(10);
  expect(readInventory(archive, 15)).rejects.toThrow("damaged");
});

test("rows that are compacted while they are collected have the same first and last states", async () => {
  const row = fc.record({
    petId,
    after: fc.option(stock, { nil: null }),
    isCompacted: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 30 }), async (some) => {
      const rows = some.map((one, at) => ({ ...one, seq: at + 1 }));
      for (const kept of ["first", "last"] as const) {
        const changes = createStockChanges(kept);
        for (const one of rows) {
          changes.add(one.petId, one.after, one.seq);
          if (one.isCompacted) await changes.compact();
        }
        const found = await changes.sorted();
        const ids = [...new Set(rows.map((one) => one.petId))].sort((a, b) => (a < b ? -1 : 1));
        const expected = ids.map((id) => {
          const own = rows.filter((one) => one.petId === id);
          const { seq, after } = (kept === "first" ? own[0] : own.at(-1))!;
          return { petId: id, seq, after };
        });
        const states = Array.from({ length: found.count }, (_, index) => ({
          petId: found.petIds[index]!,
          seq: found.versions[index]!,
          after: stockAt(found, index),
        }));
        expect(states).toEqual(expected);
      }
    }),
    runs(100),
  );
});
