import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Entry, petStatuses, type Stock } from "../../src/domain/ledger/inventory.ts";
import { type Chunk, entryJson } from "../../src/http/list/chunks.ts";
import { createInventoryList, type ListVersion } from "../../src/http/list/list.ts";

const stock = fc.record({
  quantity: fc.nat(),
  status: fc.constantFrom(...petStatuses),
});
const petId = fc.bigInt({ min: -20n, max: 60n });

function textOf(version: ListVersion): string {
  return version.chunks.map((chunk) => Buffer.from(chunk.bytes).toString()).join("");
}

function expected(stocks: ReadonlyMap<bigint, Stock>): string {
  const items = [...stocks].sort(([a], [b]) => (a < b ? -1 : 1));
  return `[${items.map(([id, one]) => entryJson(id, one)).join()}]`;
}

const here = { epoch: "e", seq: 1 };

function entriesUpTo(count: number): Entry[] {
  return Array.from({ length: count }, (_, at): Entry => {
    return { petId: BigInt(at), quantity: at, status: "available", version: at + 1 };
  });
}

/** Collects the chunks that were replaced, one array per call. */
function createCountedList(chunkEntries: number) {
  const superseded: (readonly Chunk[])[] = [];
  const onSuperseded = (chunks: readonly Chunk[]) => void superseded.push(chunks);
  return { list: createInventoryList(chunkEntries, onSuperseded), superseded };
}

describe("the list's bytes", () => {
  test("are the whole list after any changes, and never change after they were published", async () => {
    const step = fc.record({ petId, after: fc.option(stock), publish: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.uniqueArray(fc.tuple(petId, stock), { selector: ([id]) => id, maxLength: 30 }),
        fc.array(step, { maxLength: 60 }),
        async (chunkEntries, initial, steps) => {
          const { list } = createCountedList(chunkEntries);
          const stocks = new Map<bigint, Stock>(initial);
          const sorted = initial.toSorted(([a], [b]) => (a < b ? -1 : 1));
          list.load(sorted.map(([id, one]): Entry => ({ petId: id, version: 1, ...one })));
          const handedOut: [ListVersion, string][] = [];
          for (const { petId: id, after, publish } of steps) {
            list.apply(id, after);
            if (after) stocks.set(id, after);
            else stocks.delete(id);
            if (!publish) continue;
            await list.publish(here);
            const version = list.current();
            expect(textOf(version)).toBe(expected(stocks));
            expect(version.byteLength).toBe(textOf(version).length);
            handedOut.push([version, textOf(version)]);
          }
          for (const [version, text] of handedOut) expect(textOf(version)).toBe(text);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("of ids around every power of two are found again", async () => {
    const { list } = createCountedList(16);
    const ids = new Set<bigint>();
    for (let bit = 0n; bit < 63n; bit++) {
      for (const near of [-1n, 0n, 1n]) ids.add(2n ** bit + near).add(-(2n ** bit) + near);
    }
    ids.add(2n ** 63n - 1n).add(-(2n ** 63n));
    const stocks = new Map<bigint, Stock>();
    for (const quantity of [1, 2]) {
      for (const id of ids) {
        list.apply(id, { quantity, status: "sold" });
        stocks.set(id, { quantity, status: "sold" });
      }
      await list.publish(here);
      expect(textOf(list.current())).toBe(expected(stocks));
    }
  });

  test("of an unchanged chunk are shared between versions", () => {
    const { list } = createCountedList(10);
    list.load(entriesUpTo(100));
    list.publish(here);
    const before = list.current();
    list.apply(55n, { quantity: 7, status: "sold" });
    expect(list.publish(here)).toBeUndefined();
    const after = list.current();
    const fresh = after.chunks.filter((chunk) => !before.chunks.includes(chunk));
    expect(fresh).toHaveLength(1);
  });

  test("show nothing of a change before it is published, and have the position as their tag", () => {
    const { list } = createCountedList(10);
    list.load(entriesUpTo(2));
    list.publish({ epoch: "x", seq: 7 });
    const before = list.current();
    list.apply(1n, null);
    expect(list.current()).toBe(before);
    list.publish({ epoch: "x", seq: 8 });
    expect(before.tag).toBe("x-7");
    expect(list.current().tag).toBe("x-8");
    expect(textOf(list.current())).toBe(`[${entryJson(0n, entriesUpTo(1)[0]!)}]`);
  });
});

describe("a list with many changes", () => {
  /** Counts the turns of the event loop until the writing ends. */
  async function turnsOf(writing: void | Promise<void>, between: () => void): Promise<number> {
    let turns = 0;
    let isWriting = true;
    const done = Promise.resolve(writing).finally(() => {
      isWriting = false;
    });
    while (isWriting) {
      await new Promise((resolve) => setImmediate(resolve));
      between();
      turns += 1;
    }
    await done;
    return turns;
  }

  test("is written in slices, in several turns of the event loop", async () => {
    const { list } = createCountedList(100);
    list.load(entriesUpTo(20_000));
    list.publish(here);
    const before = list.current();
    const text = textOf(before);
    for (let id = 0n; id < 20_000n; id++) list.apply(id, { quantity: 1, status: "sold" });
    const turns = await turnsOf(list.publish(here), () => {
      if (list.current() === before) expect(textOf(before)).toBe(text);
    });
    // 2,048 changes, or 16 chunks, in one turn.
    expect(turns).toBeGreaterThanOrEqual(9);
    expect(list.current()).not.toBe(before);
  });

  test("accepts changes while it is written, and shows them with the next publication", async () => {
    const { list } = createCountedList(10);
    const stocks = new Map<bigint, Stock>();
    list.load(entriesUpTo(1_000));
    for (const { petId: id, quantity, status } of entriesUpTo(1_000)) {
      stocks.set(id, { quantity, status });
    }
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const change = () => {
      const id = BigInt(random(1_500) - 250);
      const after: Stock | null =
        random(3) === 0 ? null : { quantity: random(1_000), status: "pending" };
      list.apply(id, after);
      if (after) stocks.set(id, after);
      else stocks.delete(id);
    };
    for (let round = 0; round < 30; round++) {
      for (let count = 0; count < 600; count++) change();
      const promised = expected(stocks);
      const turns = await turnsOf(list.publish(here), () => {
        for (let count = 0; count < 50; count++) change();
      });
      expect(turns).toBeGreaterThan(1);
      expect(textOf(list.current())).toBe(promised);
    }
    await list.publish(here);
    expect(textOf(list.current())).toBe(expected(stocks));
  });

  test("is full before there are too many new entries for one slice", async () => {
    const { list } = createCountedList(100);
    let most = 0;
    for (let id = 0n, waiting = 0; id < 5_000n; id++) {
      list.apply(id, { quantity: 1, status: "sold" });
      most = Math.max(most, ++waiting);
      if (!list.isFull) continue;
      await list.write();
      waiting = 0;
    }
    expect(most).toBeLessThanOrEqual(201);
    await list.publish(here);
    expect(list.current().chunks.length).toBeGreaterThan(20);
    expect(list.size).toBe(5_000);
  });
});
