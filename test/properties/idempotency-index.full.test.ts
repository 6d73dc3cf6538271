import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { UsedKey } from "../../src/domain/ledger/append.ts";
import {
  createIdempotencyIndex,
  digestOfTexts,
  findUsedKey,
  nextPageRows,
  packKeys,
  pageRowsMin,
  unpackKeys,
} from "../../src/domain/ledger/idempotency.ts";
import { runs } from "../support/properties/runs.ts";

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** Keys whose first 32 bits are one of few, so that many share a slot or are next to each other. */
const key = fc
  .tuple(fc.constantFrom(0, 1, 2, 3, 4, 15, 16, 31, 0x80000000, 0xffffffff), fc.nat(2))
  .map(([first, rest]) => hex(first, 8) + hex(rest, 24));

type Step =
  | { kind: "add"; distance: number; keys: string[] }
  | { kind: "forget"; share: number }
  | { kind: "find"; key: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      // Rows may be further apart than 32 bits can express.
      distance: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom(2 ** 31, 2 ** 32 + 5)),
      keys: fc.array(key, { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("forget" as const),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("find" as const), key }) },
);

const used = (ofKey: string, firstSeq: number): UsedKey => ({
  key: ofKey,
  request: "f".repeat(32),
  firstSeq,
  rows: 1,
});

/** The first 32 bits as an index with small tables compares them: 0 is stored as 1. */
const bitsOf = (ofKey: string) => Math.max(1, Number.parseInt(ofKey.slice(0, 8), 16));

describe("the index of idempotency keys", () => {
  test("finds every row with a key, the newest first, and no row without a similar key", () => {
    let found = 0;
    let forgotten = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
        const index = createIdempotencyIndex({
          slotsMin: 4,
          doubledSlotsMax: 16,
          laterSlots: 32,
          bitsOf: (first) => first,
        });
        const model: { seq: number; bits: number }[] = [];
        let seq = 0;
        let keptFrom = 0;
        for (const one of steps) {
          if (one.kind === "add") {
            seq += one.distance;
            index.add(
              packKeys(
                seq,
                0,
                one.keys.map((each) => used(each, seq)),
              ),
            );
            for (const each of one.keys) model.push({ seq, bits: bitsOf(each) });
            expect(index.seq).toBe(seq);
          } else if (one.kind === "forget") {
            keptFrom = Math.max(keptFrom, Math.floor(seq * one.share));
            index.forget(keptFrom);
            forgotten += 1;
          } else {
            const candidates = index.candidates(one.key);
            const rows = model.filter(({ bits }) => bits === bitsOf(one.key));
            const kept = rows.filter((row) => row.seq >= keptFrom).map((row) => row.seq);
            expect(candidates).toEqual(candidates.toSorted((a, b) => b - a));
            expect(candidates.filter((row) => row >= keptFrom)).toEqual(kept.toReversed());
            for (const row of candidates) expect(rows.map((each) => each.seq)).toContain(row);
            found += kept.length;
          }
        }
      }),
      runs(1_000),
    );
    // The property is worth little unless there was something to find.
    expect(Math.min(found, forgotten)).toBeGreaterThan(1_000);
  });

  test("finds each of 300,000 keys, and seldom a row that has another key", () => {
    const index = createIdempotencyIndex({ doubledSlotsMax: 65_536, laterSlots: 131_072 });
    const keyOf = (at: number) => digestOfTexts(`key ${at}`);
    const [rows, keysPerRow] = [3_000, 100];
    for (let row = 0; row < rows; row++) {
      const keys = Array.from({ length: keysPerRow }, (_, at) =>
        used(keyOf(row * keysPerRow + at), row + 1),
      );
      index.add(packKeys(row + 1, 0, keys));
    }
    let wrong = 0;
    for (let at = 0; at < rows * keysPerRow; at++) {
      const candidates = index.candidates(keyOf(at));
      const right = Math.floor(at / keysPerRow) + 1;
      if (!candidates.includes(right)) throw new Error(`key ${at} is not in ${candidates}`);
      wrong += candidates.length - 1;
    }
    // About 10 pairs of 300,000 keys share 32 bits.
    expect(wrong).toBeLessThan(100);
    expect(index.candidates(keyOf(-1)).length).toBeLessThan(2);
  });
});

test("keys of a commit are read as they were packed, each by itself and all together", () => {
  const digest = fc.stringMatching(/^[0-9a-f]{32}$/);
  const one = fc.record({
    key: digest,
    request: digest,
    offset: fc.oneof(fc.nat(2_000), fc.constant(2 ** 32 - 1)),
    rows: fc.integer({ min: 1, max: 1_000 }),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 2 ** 32 }),
      fc.uniqueArray(one, { selector: ({ key: each }) => each, minLength: 1, maxLength: 20 }),
      digest,
      (seq, list, other) => {
        const keys = list.map(({ offset, ...rest }) => ({ ...rest, firstSeq: seq + offset }));
        const stored = packKeys(seq, 5, keys);
        expect(unpackKeys(stored)).toEqual(keys);
        // Engines return bytes that may be part of a larger buffer.
        const padded = Buffer.concat([Buffer.alloc(7), stored.records, Buffer.alloc(3)]);
        const view = { ...stored, records: padded.subarray(7, 7 + stored.records.length) };
        for (const each of keys) expect(findUsedKey(view, each.key)).toEqual(each);
        expect(findUsedKey(view, other)).toEqual(keys.find((each) => each.key === other));
      },
    ),
    runs(500),
  );
});

test("a page has about a megabyte, after rows of any size", () => {
  const rows = (count: number, keys: number) =>
    Array.from({ length: count }, () => ({ seq: 1, at: 0, records: new Uint8Array(40 * keys) }));
  expect(nextPageRows(rows(pageRowsMin, 1))).toBe(1_000);
  expect(nextPageRows(rows(pageRowsMin, 100))).toBe(250);
  expect(nextPageRows(rows(1_000, 1_024))).toBe(pageRowsMin);
  expect(nextPageRows([])).toBe(pageRowsMin);
});
