import { expect, test } from "bun:test";
import fc from "fast-check";
import { append } from "../../src/domain/ledger/append.ts";
import { genesisHash, hashRow } from "../../src/domain/ledger/chain.ts";
import { type EpochStart, epochOf, isInHistory } from "../../src/domain/ledger/epochs.ts";
import { type Entry, petStatuses, quantityMax } from "../../src/domain/ledger/inventory.ts";
import type { Change, LedgerRow, Outcome, Rejected, Unit } from "../../src/domain/ledger/ledger.ts";
import { runs } from "../support/properties/runs.ts";

/** The ledger ends at row 10. Rows up to 5 were written in epoch "a", the others in epoch "b". */
const tip = { seq: 10, at: 50_000, hash: genesisHash };
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
  countedAt: fc.record({
    seq: fc.nat(12),
    epoch: fc.constantFrom("a", "b", undefined),
    time: fc.option(fc.nat(55_000), { nil: undefined }),
  }),
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

/** The stored rows, whatever their pet. Row 1 added it, row 3 is an undo, and row 6 a count. */
function storedRow(seq: number): LedgerRow {
  const cause = seq === 3 ? "undo" : seq === 6 ? "count" : "api";
  const before = seq === 1 ? null : ({ quantity: (seq * 7) % 5, status: "sold" } as const);
  const origin = { cause, keyId: null, requestId: null, reason: null } as const;
  // A `previous` of 0 does not occur, and is not followed.
  return { seq, petId: 1n, before, after: null, previous: seq - 1, ...origin, at: seq * 5_000 };
}

/** What changed after a count, or why that is not known. `rows` are those of this call. */
function changedNaively(
  { petId: id, countedAt }: Change,
  current: Entry,
  rows: readonly LedgerRow[],
  now: number,
): bigint | "count_outdated" | "count_untimed" {
  const { seq, epoch, time = 0 } = countedAt!;
  const own = rows.filter((row) => row.petId === id);
  const oldest = own[0]?.previous ?? current.version;
  const stored = Array.from({ length: oldest }, (_, at) => storedRow(at + 1));
  const later = [...stored, ...own].filter((row) => row.seq > seq && row.at > time);
  const isKnown = epoch === undefined ? seq <= 10 : isInHistory(epochs, 10, { epoch, seq });
  if (!isKnown) return "count_outdated";
  const isHeardLater = seq > 0 && storedRow(seq).at > time + 10_000;
  if (countedAt!.time !== undefined && (now < tip.at || time > now || isHeardLater))
    return "count_untimed";
  if (later.some((row) => !row.before || row.cause === "undo")) return "count_outdated";
  const quantities = [...later.map((row) => row.before!.quantity), current.quantity].map(BigInt);
  return later
    .map((row, at) => (row.cause === "count" ? 0n : quantities[at + 1]! - quantities[at]!))
    .reduce((sum, one) => sum + one, 0n);
}

/** The rules with bigints and copies: a unit changes a copy, which is kept or discarded. */
function appendNaively(start: readonly Entry[], units: readonly Unit[], now: number) {
  const at = Math.max(now, tip.at);
  let kept = { entries: start, rows: [] as readonly object[] };
  const outcomes = units.map((one): Outcome => {
    let draft = kept;
    const stored: Entry[] = [];
    const broken: Rejected[] = [];
    for (const [index, each] of one.changes.entries()) {
      const { petId: id, kind, amount, expected: versions, reason } = each;
      const before = draft.entries.find((each) => each.petId === id);
      const current = kept.entries.find((each) => each.petId === id);
      const reject = (why: Rejected["reason"], range?: object) => {
        const epoch = why === "version_mismatch" ? epochNaively(current!.version) : undefined;
        broken.push({ kind: "rejected", reason: why, index, current, epoch, ...range });
      };
      if (!before) {
        reject("not_found");
        continue;
      }
      const isExpected = versions?.some(
        ({ seq, epoch = epochNaively(seq) }) =>
          seq === before.version && epoch === epochNaively(seq),
      );
      if (isExpected === false) {
        reject("version_mismatch");
        continue;
      }
      let sum = BigInt(amount) + (kind === "add" ? BigInt(before.quantity) : 0n);
      if (kind === "count") {
        const changed = changedNaively(each, before, draft.rows as readonly LedgerRow[], now);
        if (typeof changed === "string") {
          reject(changed);
          continue;
        }
        sum += changed;
      }
      if (sum < 0n || sum > 2n ** 53n - 1n) {
        reject("out_of_range", { quantity: Number(sum) });
        continue;
      }
      const seq = tip.seq + draft.rows.length + 1;
      const after: Entry = { ...before, quantity: Number(sum), version: seq };
      const { cause, keyId, requestId } = one;
      const since = Number(sum) - amount;
      const numbers = `${reason ?? "Stocktake"} (counted ${amount}${since ? `, ${Math.abs(since)} ${since < 0 ? "fewer" : "more"} since` : ""})`;
      const origin =
        kind === "count"
          ? { cause: "count", keyId, requestId, reason: numbers }
          : { cause, keyId, requestId, reason };
      const row = { seq, petId: id, before, after, previous: before.version, ...origin, at };
      draft = {
        entries: draft.entries.map((other) => (other === before ? after : other)),
        rows: [...draft.rows, row],
      };
      stored.push(after);
    }
    const [first, ...later] = broken;
    const others = later.map(({ index, reason, quantity: sum }) =>
      sum === undefined ? { index, reason } : { index, reason, quantity: sum },
    );
    if (first) return others.length > 0 ? { ...first, others } : first;
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
      fc.constantFrom(tip.at - 20_000, tip.at, tip.at + 2_000),
      (start, units, now) => {
        const entries = new Map(start.map((one) => [one.petId, one]));
        const state = {
          epoch: "last",
          tip,
          entries,
          remembered: new Map(),
          epochOf: (seq: number) => epochOf(epochs, seq),
          storedRow,
          listEpochs: () => epochs,
        };
        // If the clock went back, rows keep the time of the last one.
        const appended = append(state, units, now);
        const model = appendNaively(start, units, now);
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
        const at = model.rows.length === 0 ? tip.at : Math.max(now, tip.at);
        expect(appended.tip).toEqual({ seq: 10 + model.rows.length, at, hash });
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
    "count_outdated",
    "count_untimed",
  ]) {
    expect(seen.get(kind)).toBeGreaterThan(100);
  }
});

test("each unit reads a bounded number of rows for its counts, whatever others read", () => {
  const entries = new Map([
    [1n, { petId: 1n, quantity: 1, status: "sold", version: 30_000 } as Entry],
  ]);
  let reads = 0;
  const state = {
    epoch: "last",
    tip: { ...tip, seq: 30_000 },
    entries,
    remembered: new Map(),
    epochOf: () => undefined,
    storedRow: (seq: number) => {
      reads += 1;
      return { ...storedRow(seq), cause: "api" } as const;
    },
  };
  const counted = (seq: number) =>
    ({ petId: 1n, kind: "count", amount: 2, countedAt: { seq }, reason: null }) as const;
  const origin = { cause: "api", keyId: null, requestId: null } as const;
  const units = [[15_000, 20_000, 29_999], [10_005], [9_000, 29_999]].map((seqs) => ({
    ...origin,
    changes: seqs.map(counted),
  }));
  const { outcomes } = append(state, units, 1);
  expect(outcomes).toMatchObject([
    { reason: "count_outdated", index: 1 },
    { kind: "stored" },
    { reason: "count_outdated", index: 0 },
  ]);
  expect(reads).toBeLessThan(3 * 20_010);
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
  expect([at(49_999), at(50_001)]).toEqual([
    [50_000, 50_000],
    [50_001, 50_001],
  ]);
});
