import { expect, test } from "bun:test";
import { type Appended, append } from "../../src/domain/ledger/append.ts";
import { genesisHash } from "../../src/domain/ledger/chain.ts";
import type { Unit } from "../../src/domain/ledger/ledger.ts";

import { int64Max, int64Min } from "../../src/domain/values/int64.ts";
import {
  committedId,
  decodeCommit,
  decodeCommitted,
  encodeCommit,
  encodeCommitted,
} from "../../src/store/sqlite/writing/messages.ts";

const sent = { id: 12, sentMs: 1.5, now: 2, withinMs: 3 };

/** Sends a group to the writing thread and its outcome back, without the thread. */
function send(units: readonly Unit[], commit: (units: readonly Unit[]) => Appended) {
  const { units: received, ...rest } = decodeCommit(encodeCommit({ ...sent, units }));
  expect(rest).toEqual(sent);
  const appended = commit(received);
  const { epoch, tip } = appended;
  const committed = { ...appended, head: { epoch, seq: tip.seq, keysVersion: 4 } };
  const answer = encodeCommitted(sent.id, committed);
  expect(committedId(answer)).toBe(sent.id);
  return { received, committed, returned: decodeCommitted(answer, units) };
}

function commitTo(stocks: Readonly<Record<string, number>>) {
  return (units: readonly Unit[]): Appended => {
    const entries = new Map(
      Object.entries(stocks).map(([id, quantity], index) => {
        const petId = BigInt(id);
        return [petId, { petId, quantity, status: "pending" as const, version: index + 1 }];
      }),
    );
    const tip = { seq: entries.size, at: 5, hash: genesisHash };
    return append(
      { epoch: "first", tip, entries, remembered: new Map(), epochOf: () => "first" },
      units,
      9,
    );
  };
}

const origin = { cause: "api", keyId: "key_a", requestId: "req_1" } as const;
const set = (petId: bigint, amount: number) =>
  ({ petId, kind: "set", amount, expected: undefined, reason: null }) as const;

function expectUnchanged(units: readonly Unit[], stocks: Readonly<Record<string, number>>): void {
  const { received, committed, returned } = send(units, commitTo(stocks));
  expect(received).toEqual([...units]);
  expect(returned.epoch).toBe(committed.epoch);
  expect(returned.outcomes).toEqual(committed.outcomes);
  expect(returned.head).toEqual(committed.head);
  const stockOnly = committed.rows.map(({ seq, petId, after }) => ({ seq, petId, after }));
  expect(returned.rows).toEqual(stockOnly);
}

test("plain updates and their outcome cross the thread unchanged", () => {
  const stocks = { [String(int64Min)]: 0, [String(int64Max)]: 3 };
  expectUnchanged(
    [
      { ...origin, changes: [set(int64Min, Number.MAX_SAFE_INTEGER)] },
      { ...origin, keyId: null, requestId: 'with "quotes" and 🐢', changes: [set(int64Max, 0)] },
    ],
    stocks,
  );
  expectUnchanged([], stocks);
});

test("a pet id that is not a 64-bit integer is rejected, not sent as another pet's id", () => {
  for (const petId of [int64Max + 1n, int64Min - 1n, 2n ** 64n + 1n]) {
    const unit = { ...origin, changes: [set(1n, 7), set(petId, 8)] };
    expect(() => encodeCommit({ ...sent, units: [unit] })).toThrow("not a 64-bit integer");
  }
});

test("additions, reasons, expected versions and units of several changes cross it unchanged", () => {
  const change = { ...set(1n, -2), kind: "add", reason: "sold \u2028 in the shop" } as const;
  expectUnchanged(
    [
      { ...origin, changes: [set(1n, 7), change, set(2n, 4)] },
      { ...origin, changes: [] },
      { ...origin, changes: [{ ...set(2n, 1), expected: [{ seq: 5, epoch: "first" }] }] },
      {
        ...origin,
        changes: [{ ...set(2n, 1), kind: "count", countedAt: { epoch: "first", seq: 2 } }],
      },
    ],
    { 1: 5, 2: 6 },
  );
});

test("a rejected unit keeps its reason and the entry that it found, and its neighbours their rows", () => {
  const units: Unit[] = [
    { ...origin, changes: [set(1n, 7), { ...set(2n, -9), kind: "add" }] },
    { ...origin, changes: [set(9n, 1)] },
    { ...origin, changes: [set(2n, 8)] },
    { ...origin, changes: [{ ...set(2n, 1), expected: [{ seq: 1 }] }] },
  ];
  const { outcomes } = send(units, commitTo({ 1: 5, 2: 6 })).returned;
  expect(outcomes.map((outcome) => outcome.kind)).toEqual([
    "rejected",
    "rejected",
    "stored",
    "rejected",
  ]);
  expectUnchanged(units, { 1: 5, 2: 6 });
});
