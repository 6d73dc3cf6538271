import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createListing, entryJson, type ListVersion } from "../../src/api/listing.ts";
import { Refusal } from "../../src/domain/errors.ts";
import { type Entry, petStatuses, type Stock } from "../../src/domain/inventory.ts";

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

describe("the list's bytes", () => {
  test("are the whole list after any changes, and stay as they are once handed out", () => {
    const step = fc.record({ petId, after: fc.option(stock), read: fc.boolean() });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        fc.uniqueArray(fc.tuple(petId, stock), { selector: ([id]) => id, maxLength: 30 }),
        fc.array(step, { maxLength: 60 }),
        (chunkEntries, initial, steps) => {
          const listing = createListing({ chunkEntries, heldBytesMax: 1e9 });
          const stocks = new Map<bigint, Stock>(initial);
          const sorted = initial.toSorted(([a], [b]) => (a < b ? -1 : 1));
          listing.load(sorted.map(([id, one]): Entry => ({ petId: id, version: 1, ...one })));
          const handedOut: [ListVersion, string][] = [];
          for (const { petId: id, after, read } of steps) {
            listing.apply(id, after);
            if (after) stocks.set(id, after);
            else stocks.delete(id);
            if (!read) continue;
            const version = listing.version();
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

  test("of an unchanged chunk are shared between versions", () => {
    const listing = createListing({ chunkEntries: 10, heldBytesMax: 1e9 });
    const entries = Array.from({ length: 100 }, (_, at): Entry => {
      return { petId: BigInt(at), quantity: at, status: "available", version: at + 1 };
    });
    listing.load(entries);
    const before = listing.version();
    listing.apply(55n, { quantity: 7, status: "sold" });
    const after = listing.version();
    const fresh = after.chunks.filter((chunk) => !before.chunks.includes(chunk));
    expect(fresh).toHaveLength(1);
    expect(listing.version()).toBe(after);
  });

  test("that slow readers hold are bounded, and free again when they are done", () => {
    const listing = createListing({ chunkEntries: 10, heldBytesMax: 2_000 });
    const entries = Array.from({ length: 10 }, (_, at): Entry => {
      return { petId: BigInt(at), quantity: at, status: "available", version: at + 1 };
    });
    listing.load(entries);
    const held: ListVersion[] = [];
    const readSlowly = (quantity: number) => {
      const version = listing.version();
      listing.hold(version);
      held.push(version);
      listing.apply(3n, { quantity, status: "available" });
    };
    expect(() => {
      for (let round = 0; round < 100; round++) readSlowly(round);
    }).toThrow(Refusal);
    expect(held.length).toBeLessThan(10);
    for (const version of held) for (const chunk of version.chunks) listing.release(chunk);
    expect(textOf(listing.version())).toContain('"petId":3,');
  });
});
