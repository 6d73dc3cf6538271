import { expect, test } from "bun:test";
import fc from "fast-check";
import { append } from "../../src/domain/ledger/append.ts";
import { genesisHash, hashRow } from "../../src/domain/ledger/chain.ts";
import { type EpochStart, epochOf } from "../../src/domain/ledger/epochs.ts";
import { type Entry, petStatuses, quantityMax } from "../../src/domain/ledger/inventory.ts";
import type {
  Change,
  ExpectedVersion,
  LedgerRow,
  Outcome,
  Rejected,
  Unit,
} from "../../src/domain/ledger/ledger.ts";
import { runs } from "../support/properties/runs.ts";

/** The ledger ends at row 10. Rows up to 5 were written in epoch "a", the others in epoch "b". */
const tip = { seq: 10, at: 1_000, hash: genesisHash };
const epochs: readonly EpochStart[] = [
  { epoch: "a", fromSeq: 0 },
  { epoch: "b", fromSeq: 5 },
];

const petId = fc.bigInt({ min: 1n, max: 4n });
const quantity = fc.oneof(fc.nat(5), fc.constantFrom(0, quantityMax - 1, quantityMax));
const entry: fc.Arbitrary<Entry> = fc.record({
  petId,
  quantity,
  status: fc.constantFrom(...petStatuses),
  version: fc.integer({ min: 1, max: 10 }),
});
const expected = fc.record(
  { seq: fc.integer({ min: 1, max: 14 }), epoch: fc.constantFrom("a", "b", "c", undefined) },
  { requiredKeys: ["seq"] },
);
const change: fc.Arbitrary<Change> = fc.record({
  petId: fc.bigInt({ min: 1n, max: 5n }),
  kind: fc.constantFrom("set", "add", "count"),
  countedAt: fc.record({ seq: fc.nat(15), epoch: fc.constantFrom("a", "b", undefined) }),
  amount: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -4, max: 6 }) },
    { weight: 1, arbitrary: fc.constantFrom(quantityMax, -quantityMax) },
  ),
  expected: fc.option(fc.array(expected, { maxLength: 4 }), { nil: undefined, freq: 2 }),
  reason: fc.constantFrom(null, "count"),
});
const unit: fc.Arbitrary<Unit> = fc
  .tuple(fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(99))
  .map(([changes, id]) => ({ changes, cause: "api", keyId: "key_a", requestId: `req_${id}` }));

/** What the store says about a count. Unknown for pet 4. */
function countBase(id: bigint, { seq, epoch }: ExpectedVersion): bigint | undefined {
  return id === 4n || epoch === "b" ? undefined : BigInt(seq) / id;
}

/** The rules with bigints and copies: a unit changes a copy, which is kept or discarded. */
function appendNaively(start: readonly Entry[], units: readonly Unit[]) {
  let kept = { entries: start, rows: [] as readonly object[] };
  const outcomes = units.map((one): Outcome => {
    let draft = kept;
    const stored: Entry[] = [];
    for (const [
      index,
      { petId: id, kind, amount, expected: versions, countedAt, reason },
    ] of one.changes.entries()) {
      const before = draft.entries.find((each) => each.petId === id);
      const current = kept.entries.find((each) => each.petId === id);
      const reject = (why: Rejected["reason"]) =>
        ({
          kind: "rejected",
          reason: why,
          index,
          current,
          epoch: why === "version_mismatch" ? epochNaively(current!.version) : undefined,
        }) as const;
      if (!before) return reject("not_found");
      const isExpected = versions?.some(
        ({ seq, epoch = epochNaively(seq) }) =>
          seq === before.version && epoch === epochNaively(seq),
      );
      if (isExpected === false) return reject("version_mismatch");
      let sum = BigInt(amount) + (kind === "set" ? 0n : BigInt(before.quantity));
      if (kind === "count") {
        const base = countBase(id, countedAt!);
        if (countedAt!.epoch === undefined && countedAt!.seq > tip.seq)
          return reject("count_ahead");
        if (base === undefined) return reject("count_outdated");
        sum -= base;
        for (const row of draft.rows as readonly LedgerRow[]) {
          if (row.petId !== id || row.cause !== "count") continue;
          sum -= BigInt(row.after!.quantity) - BigInt(row.before!.quantity);
        }
      }
      if (sum < 0n || sum > 2n ** 53n - 1n) return reject("out_of_range");
      const seq = tip.seq + draft.rows.length + 1;
      const after: Entry = { ...before, quantity: Number(sum), version: seq };
      const { cause, keyId, requestId } = one;
      const since = Number(sum) - amount;
      const numbers = `${reason ?? "Stocktake"} (counted ${amount}${since ? `, ${Math.abs(since)} ${since < 0 ? "fewer" : "more"} since` : ""})`;
      const origin =
        kind === "count"
          ? { cause: "count", keyId, requestId, reason: numbers }
          : { cause, keyId, requestId, reason };
      const row = { seq, petId: id, before, after, previous: before.version, ...origin, at: 1_000 };
      draft = {
        entries: draft.entries.map((each) => (each === before ? after : each)),
        rows: [...draft.rows, row],
      };
      stored.push(after);
    }
    kept = draft;
    return { kind: "stored", entries: stored, epoch: "last", isReplayed: false };
  });
  return { ...kept, outcomes };
}

function epochNaively(seq: number): string {
  return seq <= 5 ? "a" : "b";
}

test("append stores exactly the units that break no rule, whatever else the group contains", () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(
      fc.uniqueArray(entry, { selector: ({ petId: id }) => id, minLength: 1 }),
      fc.array(unit, { maxLength: 6 }),
      (start, units) => {
        const entries = new Map(start.map((one) => [one.petId, one]));
        const state = {
          epoch: "last",
          tip,
          entries,
          remembered: new Map(),
          epochOf: (seq: number) => epochOf(epochs, seq),
          countBase,
        };
        // The clock went back: rows keep the time of the last one.
        const appended = append(state, units, 500);
        const model = appendNaively(start, units);
        expect(appended.outcomes).toEqual(model.outcomes);
        expect(appended.rows as unknown).toEqual(model.rows);
        expect([...entries.values()]).toEqual([...model.entries]);
        expect(appended.epoch).toBe("last");
        const hashes: string[] = [];
        for (const row of model.rows as readonly LedgerRow[]) {
          hashes.push(hashRow(hashes.at(-1) ?? genesisHash, row));
        }
        expect(appended.hashes).toEqual(hashes);
        const hash = hashes.at(-1) ?? genesisHash;
        expect(appended.tip).toEqual({ seq: 10 + model.rows.length, at: 1_000, hash });
        for (const outcome of appended.outcomes) {
          const kind = outcome.kind === "stored" ? outcome.kind : outcome.reason;
          seen.set(kind, (seen.get(kind) ?? 0) + 1);
        }
      },
    ),
    runs(3_000),
  );
  // The property is worth little unless every outcome occurred.
  for (const kind of [
    "stored",
    "not_found",
    "version_mismatch",
    "out_of_range",
    "count_ahead",
    "count_outdated",
  ]) {
    expect(seen.get(kind)).toBeGreaterThan(100);
  }
});

test("rows of one call share a time, which is never before the last row's", () => {
  const entries = () =>
    new Map([[1n, { petId: 1n, quantity: 1, status: "sold", version: 1 } as Entry]]);
  const set = { petId: 1n, kind: "set", amount: 2, reason: null } as const;
  const units: Unit[] = [{ changes: [set, set], cause: "api", keyId: null, requestId: null }];
  const at = (now: number) =>
    append(
      { epoch: "last", tip, entries: entries(), remembered: new Map(), epochOf: () => undefined },
      units,
      now,
    ).rows.map((row) => row.at);
  expect([at(999), at(1_001)]).toEqual([
    [1_000, 1_000],
    [1_001, 1_001],
  ]);
});
