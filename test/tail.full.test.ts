import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Cursor } from "../src/domain/ledger/cursors.ts";
import { createHeadWatcher, type HeadWatcher } from "../src/domain/ledger/head.ts";
import { followTail, type LedgerTail, pageRows } from "../src/domain/ledger/tail.ts";
import type { Store } from "../src/domain/store.ts";
import { openSqlite } from "../src/store/sqlite/store.ts";
import { upTo } from "./support/history.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";
import { setUnit } from "./support/units.ts";
import { until } from "./support/until.ts";

/**
 * The ports of a store that can be replaced by another one, as a restored backup or a promoted
 * server replaces it. Counts the pages that are read.
 */
function replaceable(first: Store) {
  let current = first;
  let reads = 0;
  /** What reading the history waits for. */
  let gate: Promise<void> = Promise.resolve();
  /** What reading rows waits for. */
  let rowsGate: Promise<void> | undefined;
  let reached = () => {};
  const ports: Parameters<typeof followTail>[0] = {
    inventory: {
      ...first.inventory,
      readHead: () => current.inventory.readHead(),
      cachedHead: () => current.inventory.cachedHead(),
      isOutdated: (epoch) => current.inventory.isOutdated(epoch),
      async listEpochs() {
        reached();
        await gate;
        return current.inventory.listEpochs();
      },
    },
    history: {
      ...first.history,
      listRows(filter, rowsMax) {
        reads += 1;
        const rows = current.history.listRows(filter, rowsMax);
        return rowsGate ? rowsGate.then(() => rows) : rows;
      },
    },
  };
  return {
    ports,
    replaceBy(store: Store) {
      current = store;
    },
    /** Makes the next read of the history wait after the head. Returns when it does, and what lets it continue. */
    holdHistory() {
      const held = Promise.withResolvers<void>();
      const { promise, resolve: release } = Promise.withResolvers<void>();
      gate = promise;
      reached = held.resolve;
      return { held: held.promise, release };
    },
    /** Makes reads of rows wait for their rows. Returns what lets them continue. */
    holdRows() {
      const { promise, resolve } = Promise.withResolvers<void>();
      rowsGate = promise;
      return resolve;
    },
    takeReads() {
      const count = reads;
      reads = 0;
      return count;
    },
  };
}

describe.each([surfaceEngine])("the tail of the ledger on %s", (engine) => {
  let service: TestService;
  let watcher: HeadWatcher;
  let tail: LedgerTail;
  let store: ReturnType<typeof replaceable>;
  let told: string[];
  beforeEach(async () => {
    service = await startTestService(engine);
    store = replaceable(service.store);
    watcher = createHeadWatcher(store.ports.inventory, () => {});
    tail = await followTail(store.ports, watcher, () => {});
    told = [];
    tail.subscribe({
      rowsAdded: () => void told.push("rows"),
      historyChanged: () => void told.push("history"),
    });
  });
  afterEach(async () => {
    tail.stop();
    watcher.stop();
    await service.stop();
  });

  /** Adds rows, which the tail learns of by reading the head. */
  async function add(to: TestService, count: number, petId = 1n): Promise<void> {
    await to.addPets({ petId });
    await to.store.inventory.commit(upTo(count - 1).map((quantity) => setUnit(petId, quantity)));
  }
  const locate = async (cursor?: Cursor) => {
    const { position, isReset } = await tail.locate(cursor);
    return { seq: position.seq, isReset };
  };
  const seqsAfter = async (seq: number) => (await tail.rowsAfter(seq)).map((row) => row.seq);
  const readToEnd = async (after = 0) => {
    const seqs: number[] = [];
    for (let rows = await seqsAfter(after); rows.length > 0; rows = await seqsAfter(rows.at(-1)!)) {
      seqs.push(...rows);
    }
    return seqs;
  };

  test("has every row once, and readers at the same place share one read", async () => {
    expect(await locate()).toEqual({ seq: 0, isReset: false });
    expect(await tail.rowsAfter(0)).toEqual([]);
    const count = 2 * pageRows + 5;
    await add(service, count);
    expect(await locate()).toEqual({ seq: count, isReset: false });
    expect(told).toContain("rows");
    store.takeReads();
    const all = await Promise.all(upTo(20).map(() => readToEnd()));
    for (const seqs of all) expect(seqs).toEqual(upTo(count));
    expect(store.takeReads()).toBe(3);
    expect(await readToEnd(pageRows - 1)).toEqual(upTo(count, pageRows));
    const [one, other] = [await tail.rowsAfter(3), await tail.rowsAfter(3)];
    expect(one[0]).toBe(other[0]!);
    expect(store.takeReads()).toBe(0);
    // The last page was read when it was not full. Only its other rows are read.
    await service.store.inventory.commit([setUnit(1n, 7)]);
    await tail.locate();
    expect(await readToEnd(count - 2)).toEqual([count - 1, count, count + 1]);
    expect(store.takeReads()).toBe(1);
  });

  test("a row that is stored while another reader reads its page is not missed", async () => {
    await add(service, 3);
    await tail.locate();
    const release = store.holdRows();
    const first = seqsAfter(0);
    await service.store.inventory.commit([setUnit(1n, 7)]);
    await tail.locate();
    const second = seqsAfter(3);
    release();
    expect([await first, await second]).toEqual([[1, 2, 3], [4]]);
  });

  test("locates every position of its own history, and resets others to the end", async () => {
    await add(service, 3);
    await tail.locate();
    for (const seq of [0, 1, 3]) {
      const { epoch } = tail.positionAt(seq);
      expect(await locate({ epoch, seq })).toEqual({ seq, isReset: false });
      expect(await locate({ epoch: undefined, seq })).toEqual({ seq, isReset: false });
    }
    const { epoch } = tail.positionAt(3);
    for (const cursor of [
      { epoch, seq: 4 },
      { epoch: undefined, seq: 4 },
      { epoch: "other", seq: 1 },
    ]) {
      expect(await locate(cursor)).toEqual({ seq: 3, isReset: true });
    }
  });

  test("forgets the rows of a store that was replaced, and gives none while it is not certain", async () => {
    const other = await startTestService(engine);
    try {
      await add(service, 3);
      await add(other, 5, 2n);
      await tail.locate();
      const position = tail.positionAt(3);
      expect(tail.includes(position)).toBe(true);
      expect(await readToEnd()).toEqual([1, 2, 3]);
      told.length = 0;

      const { release } = store.holdHistory();
      store.replaceBy(other.store);
      await watcher.readHead();
      expect(await tail.rowsAfter(0)).toEqual([]);
      const located = locate(position);
      expect(told).toEqual([]);
      release();
      expect(await located).toEqual({ seq: 5, isReset: true });
      expect(told).toEqual(["history"]);
      expect(tail.includes(position)).toBe(false);
      expect(await readToEnd()).toEqual([1, 2, 3, 4, 5]);
      const pets = (await tail.rowsAfter(0)).map(({ petId }) => petId);
      expect(pets).toEqual([2n, 2n, 2n, 2n, 2n]);
    } finally {
      await other.stop();
    }
  });
});

describe.each([surfaceEngine])("while the history is read on %s", (engine) => {
  let service: TestService;
  let stack: AsyncDisposableStack;
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    service = await startTestService(engine);
    stack.defer(() => service.stop());
    await service.addPets({ petId: 1n });
  });
  afterEach(() => stack.disposeAsync());

  test("a row that another process stores is noticed, at the start and after a replacement", async () => {
    const store = replaceable(service.store);
    const watcher = createHeadWatcher(store.ports.inventory, () => {});
    stack.defer(watcher.stop);
    const start = store.holdHistory();
    const starting = followTail(store.ports, watcher, () => {});
    await start.held;
    await service.store.inventory.commit([setUnit(1n, 5)]);
    await watcher.readHead();
    start.release();
    const tail = await starting;
    stack.defer(tail.stop);
    expect(tail.seq).toBe(2);

    const other = await startTestService(engine);
    stack.defer(() => other.stop());
    await other.addPets({ petId: 1n });
    const replacement = store.holdHistory();
    store.replaceBy(other.store);
    await watcher.readHead();
    await replacement.held;
    await other.store.inventory.commit([setUnit(1n, 6), setUnit(1n, 7), setUnit(1n, 8)]);
    await watcher.readHead();
    replacement.release();
    expect((await tail.locate()).position.seq).toBe(4);
  });
});

test("notices a store that went back in its epoch, as an older copy of its file does", async () => {
  const service = await startTestService("sqlite");
  await using stack = new AsyncDisposableStack();
  stack.defer(() => service.stop());
  await service.addPets({ petId: 1n });
  await service.store.inventory.commit([setUnit(1n, 5)]);
  const path = service.databaseUrl.slice("sqlite:".length);
  const copy = `${path}-copy`;
  {
    using database = new Database(path);
    database.run("VACUUM INTO ?", [copy]);
  }
  const { clock } = service;
  const older = await openSqlite({ path: copy, environment: "production", clock, threaded: false });
  stack.defer(() => older.close());
  await service.store.inventory.commit([setUnit(1n, 6), setUnit(1n, 7)]);
  const store = replaceable(service.store);
  const watcher = createHeadWatcher(store.ports.inventory, () => {});
  stack.defer(watcher.stop);
  const tail = await followTail(store.ports, watcher, () => {});
  stack.defer(tail.stop);
  expect(tail.seq).toBe(4);
  const position = tail.positionAt(4);
  const changes: string[] = [];
  tail.subscribe({ rowsAdded() {}, historyChanged: () => void changes.push("history") });
  store.replaceBy(older);
  const head = await watcher.readHead();
  expect(head).toMatchObject({ epoch: position.epoch, seq: 2 });
  await until(() => changes.length > 0, 5_000, "the history is not read again");
  expect(tail.seq).toBe(2);
  expect(tail.includes(position)).toBe(false);
  expect((await tail.rowsAfter(0)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test("a missing row is never skipped: its page cannot be read, and the rows before it can", async () => {
  const service = await startTestService("sqlite");
  const watcher = createHeadWatcher(service.store.inventory, () => {});
  const tail = await followTail(service.store, watcher, () => {});
  await service.addPets({ petId: 1n });
  const count = pageRows + 9;
  await service.store.inventory.commit(upTo(count - 1).map((quantity) => setUnit(1n, quantity)));
  await until(() => tail.seq === count, 5_000, "the rows are not noticed");
  {
    using database = new Database(service.databaseUrl.slice("sqlite:".length));
    database.run("DROP TRIGGER ledger_rows_remain");
    database.run("DELETE FROM ledger WHERE seq = ?", [pageRows + 5]);
  }
  expect((await tail.rowsAfter(0)).map(({ seq }) => seq)).toEqual(upTo(pageRows));
  const missing = Promise.resolve(tail.rowsAfter(pageRows));
  await expect(missing).rejects.toThrow("damaged");
  tail.stop();
  watcher.stop();
  await service.stop();
});
