import { expect, test } from "bun:test";
import fc from "fast-check";
import { append, type Remembered } from "../../src/domain/ledger/append.ts";
import { genesisHash } from "../../src/domain/ledger/chain.ts";
import { storedKeysOf, unpackKeys } from "../../src/domain/ledger/idempotency.ts";
import { type Entry, petStatuses } from "../../src/domain/ledger/inventory.ts";
import type { Outcome, Unit } from "../../src/domain/ledger/ledger.ts";
import { runs } from "../support/properties/runs.ts";

const keptMs = 100;

/** A request, and when it arrives. Several that arrive together form one group. */
interface Asked {
  readonly key: string | undefined;
  readonly request: string;
  readonly changes: Unit["changes"];
}

const change = fc.record({
  petId: fc.bigInt({ min: 1n, max: 3n }),
  kind: fc.constantFrom("set" as const, "add" as const),
  amount: fc.integer({ min: -3, max: 4 }),
  status: fc.constantFrom(undefined, undefined, ...petStatuses),
  expected: fc.option(
    fc.array(fc.record({ seq: fc.integer({ min: 1, max: 12 }) }), { maxLength: 6 }),
    { nil: undefined, freq: 2 },
  ),
  reason: fc.constant(null),
});
const asked: fc.Arbitrary<Asked> = fc.record({
  key: fc.constantFrom(undefined, "a", "b", "c"),
  request: fc.constantFrom("x", "x", "x", "y"),
  changes: fc.array(change, { minLength: 1, maxLength: 3 }),
});
const group = fc.record({
  // The clock may go back, and often less time passes than a key is kept.
  afterMs: fc.oneof(fc.integer({ min: -40, max: 60 }), fc.integer({ min: 90, max: 110 })),
  units: fc.array(asked, { minLength: 1, maxLength: 5 }),
});

const digit = { a: "a", b: "b", c: "c", x: "0", y: "1" } as Record<string, string>;
const digest = (name: string) => digit[name]!.repeat(32);

function toUnit({ key, request, changes }: Asked, index: number): Unit {
  const idempotency = key && { key: digest(key), request: digest(request), keptMs };
  const origin = { cause: "api", keyId: "key_a", requestId: `req_${index}` } as const;
  return { changes, ...origin, ...(idempotency ? { idempotency } : {}) };
}

/**
 * What a store does, as simply as possible: it keeps every stored result with its key, and applies
 * the same units without keys, one at a time, if the key is not known.
 */
function createNaiveStore(start: readonly Entry[]) {
  let entries = new Map(start.map((entry) => [entry.petId, entry]));
  let tip = { seq: 3, at: 0, hash: genesisHash };
  const results: { key: string; request: string; at: number; outcome: Outcome }[] = [];
  return {
    entries: () => [...entries.values()],
    submit(unit: Unit, now: number): Outcome {
      const { idempotency, ...plain } = unit;
      const known = results.findLast(({ key }) => key === idempotency?.key);
      if (known && known.at >= now - keptMs) {
        if (known.request !== idempotency!.request) {
          return {
            kind: "rejected",
            reason: "key_reused",
            index: 0,
            current: undefined,
            epoch: undefined,
          };
        }
        return { ...known.outcome, isReplayed: true } as Outcome;
      }
      const draft = new Map(entries);
      const state = { epoch: "e", tip, entries: draft, remembered: new Map(), epochOf: () => "e" };
      const appended = append(state, [plain], now);
      const [outcome] = appended.outcomes;
      if (outcome!.kind === "stored") {
        entries = draft;
        tip = appended.tip;
        if (idempotency) results.push({ ...idempotency, at: tip.at, outcome: outcome! });
      }
      return outcome!;
    },
  };
}

test("a key is applied once while it is kept, and its retries get the first result, in any groups", () => {
  const seen = new Map<string, number>();
  const pets = [1n, 2n].map((petId, at) => ({
    petId,
    quantity: 3,
    status: "available" as const,
    version: at + 1,
  }));
  fc.assert(
    fc.property(fc.array(group, { maxLength: 8 }), (groups) => {
      const naive = createNaiveStore(pets);
      const entries = new Map(pets.map((entry) => [entry.petId, entry as Entry]));
      // As an engine does: the newest result of each key, read from what was stored.
      const remembered = new Map<string, Remembered>();
      let tip = { seq: 3, at: 0, hash: genesisHash };
      let now = 1_000;
      for (const { afterMs, units: list } of groups) {
        now += afterMs;
        const units = list.map(toUnit);
        const given = new Map(remembered);
        const appended = append(
          { epoch: "e", tip, entries, remembered: given, epochOf: () => "e" },
          units,
          now,
        );
        expect(appended.outcomes).toEqual(units.map((unit) => naive.submit(unit, now)));
        expect([...entries.values()]).toEqual(naive.entries());
        const stored = appended.usedKeys.length > 0 ? storedKeysOf(appended) : undefined;
        expect(stored ? unpackKeys(stored) : []).toEqual([...appended.usedKeys]);
        for (const { key, request, firstSeq, rows: count } of appended.usedKeys) {
          const rows = appended.rows.filter(({ seq }) => seq >= firstSeq && seq < firstSeq + count);
          const rebuilt = rows.map(({ petId, after, seq }) => ({ petId, ...after!, version: seq }));
          remembered.set(key, { request, at: stored!.at, entries: rebuilt, epoch: "e" });
        }
        tip = appended.tip;
        for (const outcome of appended.outcomes) {
          const kind =
            outcome.kind === "rejected" ? outcome.reason : `stored ${outcome.isReplayed}`;
          seen.set(kind, (seen.get(kind) ?? 0) + 1);
        }
      }
    }),
    runs(2_000),
  );
  for (const kind of ["stored false", "stored true", "key_reused", "version_mismatch"]) {
    expect([kind, seen.get(kind)! > 500]).toEqual([kind, true]);
  }
});

test("a retry gets the first result even if its expected version has passed, and a rejected unit is not remembered", () => {
  const entries = new Map<bigint, Entry>([
    [1n, { petId: 1n, quantity: 5, status: "sold", version: 3 }],
  ]);
  const state = {
    epoch: "e",
    tip: { seq: 3, at: 0, hash: genesisHash },
    entries,
    remembered: new Map(),
    epochOf: () => "e",
  };
  const unit = (key: string, seq: number): Unit => ({
    changes: [{ petId: 1n, kind: "add", amount: 1, expected: [{ seq }], reason: null }],
    cause: "api",
    keyId: null,
    requestId: null,
    idempotency: { key: digest(key), request: digest("x"), keptMs },
  });
  const { outcomes, usedKeys, rows } = append(
    state,
    [unit("b", 9), unit("a", 3), unit("a", 3), unit("b", 4), unit("b", 4)],
    1_000,
  );
  expect(outcomes).toMatchObject([
    { reason: "version_mismatch" },
    { isReplayed: false, entries: [{ quantity: 6, version: 4 }] },
    { isReplayed: true, entries: [{ quantity: 6, version: 4 }] },
    { isReplayed: false, entries: [{ quantity: 7, version: 5 }] },
    { isReplayed: true, entries: [{ quantity: 7, version: 5 }] },
  ]);
  expect(rows).toHaveLength(2);
  expect(usedKeys.map(({ key, firstSeq }) => [key[0], firstSeq])).toEqual([
    ["a", 4],
    ["b", 5],
  ]);
});
