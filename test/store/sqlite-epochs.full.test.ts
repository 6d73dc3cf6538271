import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { undoRow, undoStore } from "../../src/domain/history/undo.ts";
import { epochOf, isInHistory } from "../../src/domain/ledger/epochs.ts";
import type { Store } from "../../src/domain/store.ts";
import { createLedgerWriter } from "../../src/store/sqlite/commit.ts";
import { openForWriting } from "../../src/store/sqlite/engine/connection.ts";
import { lockForServing } from "../../src/store/sqlite/engine/serving-lock.ts";
import { createInventoryReader } from "../../src/store/sqlite/inventory.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { createTestClock, testStart } from "../support/clock.ts";
import { petRow } from "../support/pets.ts";
import { setUnit } from "../support/units.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "petstore-epochs-"));
  path = join(folder, "test.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Opens the store as the service does, or as a command does, and closes it after `work`. */
async function use<T>(
  who: "service" | "command",
  work: (store: Store) => T | Promise<T>,
  file = path,
): Promise<T> {
  const threaded = who === "service";
  const clock = createTestClock();
  const store = await openSqlite({ path: file, environment: "production", clock, threaded });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const addPet = (petId: bigint) => (store: Store) =>
  store.catalogue.importPets(
    (async function* () {
      yield [petRow({ petId })];
    })(),
    commandImport("test"),
  );
const set = (quantity: number) => (store: Store) => store.inventory.commit([setUnit(1n, quantity)]);

async function positionsOf(store: Store) {
  const head = await store.inventory.readHead();
  return { head, history: await store.inventory.listEpochs() };
}

test("a store that a command made has its epoch in its history", async () => {
  const { head, history } = await use("command", positionsOf);
  expect(history).toEqual([{ epoch: head.epoch, fromSeq: 0 }]);
});

test("every start of the service begins an epoch, which covers the rows that it stores", async () => {
  await use("command", addPet(1n));
  const epochs: string[] = [];
  for (const quantity of [1, 2]) {
    await use("service", async (store) => {
      epochs.push((await store.inventory.readHead()).epoch);
      await set(quantity)(store);
      await set(quantity)(store);
    });
  }
  const { head, history } = await use("command", positionsOf);
  expect(head).toMatchObject({ seq: 5, epoch: epochs[1]! });
  expect(history.slice(-2)).toEqual([
    { epoch: epochs[0]!, fromSeq: 1 },
    { epoch: epochs[1]!, fromSeq: 3 },
  ]);
  expect([2, 3, 4, 5].map((seq) => epochOf(history, seq))).toEqual([
    epochs[0]!,
    epochs[0]!,
    epochs[1]!,
    epochs[1]!,
  ]);
});

test("a position that a restore removed is not in the history, after a service or an import", async () => {
  await use("command", addPet(1n));
  const backup = join(folder, "backup.db");
  const lost = await use("service", async (store) => {
    await set(1)(store);
    const copy = new Database(path);
    copy.run(`VACUUM INTO '${backup}'`);
    copy.close();
    const before = await store.inventory.readHead();
    await set(2)(store);
    return { kept: before, removed: await store.inventory.readHead() };
  });
  for (const who of ["service", "command"] as const) {
    const restored = join(folder, `${who}.db`);
    cpSync(backup, restored);
    // The next row has the same number as the one that was removed.
    await use(who, addPet(2n), restored);
    const { head, history } = await use("command", positionsOf, restored);
    expect(head.seq).toBe(lost.removed.seq);
    expect(isInHistory(history, head.seq, lost.kept)).toBe(true);
    expect(isInHistory(history, head.seq, lost.removed)).toBe(false);
  }
});

test("an undo in a restored store begins an epoch if no service runs, and the ETags of other rows stay", async () => {
  await use("command", addPet(1n));
  await use("service", set(1));
  const backup = join(folder, "backup.db");
  cpSync(path, backup);
  // The row that the backup does not have, and the undo in the restored store, have the same number.
  const removed = await use("service", async (store) => {
    await set(2)(store);
    return store.inventory.readHead();
  });
  const before = await use("command", positionsOf, backup);
  await use("command", (store) => undoRow(undoStore(store), 2), backup);
  const { head, history } = await use("command", positionsOf, backup);
  expect(head.seq).toBe(removed.seq);
  expect(head.epoch).not.toBe(before.head.epoch);
  expect(isInHistory(history, head.seq, removed)).toBe(false);
  expect(isInHistory(history, head.seq, before.head)).toBe(true);
  for (const seq of [1, 2]) expect(epochOf(history, seq)).toBe(epochOf(before.history, seq)!);
  expect(epochOf(history, 3)).toBe(head.epoch);
});

test("an undo beside the service is part of the service's epoch", async () => {
  await use("command", addPet(1n));
  const release = lockForServing(path);
  await use("service", async (service) => {
    await set(1)(service);
    const { epoch } = await service.inventory.readHead();
    await use("command", (store) => undoRow(undoStore(store), 2));
    expect(await service.inventory.readHead()).toMatchObject({ epoch, seq: 3 });
  });
  release();
});

test("rows that a command imports beside the service are part of the service's epoch", async () => {
  const release = lockForServing(path);
  await use("service", async (service) => {
    await use("command", addPet(1n));
    const { head, history } = await positionsOf(service);
    expect(head.seq).toBe(1);
    expect(history.at(-1)).toEqual({ epoch: head.epoch, fromSeq: 0 });
    expect(isInHistory(history, head.seq, head)).toBe(true);
  });
  release();
});

test("an epoch that could not begin when the service started begins with its first commit", async () => {
  await use("command", addPet(1n));
  const database = openForWriting({ path, environment: "production" }, 0);
  const writer = createLedgerWriter(database);
  const reader = createInventoryReader(database);
  const before = reader.listEpochs();
  const other = new Database(path);
  other.run("BEGIN IMMEDIATE");
  expect(() => writer.beginEpoch("late")).toThrow("database is locked");
  expect(reader.listEpochs()).toEqual(before);
  expect(before.map(({ epoch }) => epoch)).toContain(reader.readHead().epoch);
  other.run("ROLLBACK");
  other.close();
  writer.commit([setUnit(1n, 1)], testStart, Number.POSITIVE_INFINITY);
  writer.commit([setUnit(1n, 2)], testStart, Number.POSITIVE_INFINITY);
  expect(reader.readHead()).toMatchObject({ epoch: "late", seq: 3 });
  expect(reader.listEpochs()).toEqual([...before, { epoch: "late", fromSeq: 1 }]);
  database.close();
});

test("a store that was filled from another has the other's history, and then its own epoch", async () => {
  await use("command", addPet(1n));
  const source = await use("service", async (store) => {
    await set(1)(store);
    return positionsOf(store);
  });
  const target = join(folder, "target.db");
  await use("command", (from) =>
    use(
      "command",
      (to) => from.transfer.snapshot(({ rowsOf }) => to.transfer.importTables(rowsOf)),
      target,
    ),
  );
  const { head, history } = await use("command", positionsOf, target);
  expect(head.epoch).not.toBe(source.head.epoch);
  expect(history).toEqual([...source.history, { epoch: head.epoch, fromSeq: 2 }]);
  expect(isInHistory(history, head.seq, source.head)).toBe(true);
  // Opening it again adds nothing.
  expect((await use("command", positionsOf, target)).history).toEqual(history);
});

test("a store without its head row gets no new one", async () => {
  await use("command", () => {});
  const tool = new Database(path);
  tool.run("DELETE FROM head");
  await expect(use("command", positionsOf)).rejects.toThrow("the database has no head row");
  expect(tool.query("SELECT count(*) FROM head").values()).toEqual([[0]]);
  tool.close();
});
