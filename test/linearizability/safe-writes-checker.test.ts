import { expect, test } from "bun:test";
import { checkSafeWrites } from "../support/safe-writes/checker.ts";
import type { Answer, History, Row, Write } from "../support/safe-writes/history.ts";

const batchAnswer: Answer = {
  status: 200,
  text: '{"entries":[{"petId":1,"quantity":12,"status":"available","version":3},{"petId":1,"quantity":9,"status":"available","version":4}]}',
  etag: null,
  isReplayed: false,
};
const setAnswer: Answer = {
  status: 200,
  text: '{"petId":2,"quantity":40,"status":"available"}',
  etag: '"e-5"',
  isReplayed: false,
};

const batch: Write = {
  id: "w1",
  method: "POST",
  changes: [
    { petId: 1n, delta: 2 },
    { petId: 1n, delta: -3 },
  ],
  start: 0,
  end: 10,
  answers: [batchAnswer, { ...batchAnswer, isReplayed: true }],
  unanswered: 1,
};
const set: Write = {
  id: "w2",
  method: "PATCH",
  changes: [{ petId: 2n, quantity: 40, expected: 2 }],
  start: 12,
  end: 20,
  answers: [setAnswer],
  unanswered: 0,
};
const unknown: Write = {
  id: "w3",
  method: "POST",
  changes: [{ petId: 1n, delta: 1 }],
  start: 15,
  end: Infinity,
  answers: [],
  unanswered: 2,
};
const row = (seq: number, petId: bigint, before: number, after: number, previous: number): Row => ({
  seq,
  petId,
  before,
  after,
  previous,
  reason: seq < 5 ? "w1" : seq === 5 ? "w2" : "w3",
  requestId: seq < 5 ? "r1" : `r${seq}`,
});
const ledger = [
  row(3, 1n, 10, 12, 1),
  row(4, 1n, 12, 9, 3),
  row(5, 2n, 7, 40, 2),
  row(6, 1n, 9, 10, 4),
];
const history: History = {
  initial: new Map([
    [1n, 10],
    [2n, 7],
  ]),
  writes: [batch, set, unknown],
  reads: [{ petId: 1n, quantity: 9, version: 4, start: 11, end: 13 }],
  ledger,
};

const withLedger = (rows: Row[]): History => ({ ...history, ledger: rows });
const withWrites = (...writes: Write[]): History => ({ ...history, writes });
const withRead = (read: Partial<History["reads"][number]>): History => ({
  ...history,
  reads: [{ ...history.reads[0]!, ...read }],
});

test("a history in which every write took effect once has no violation", () => {
  expect(checkSafeWrites(history)).toEqual([]);
  expect(checkSafeWrites(withLedger(ledger.slice(0, 3)))).toEqual([]);
});

const wrong: [string, string, History][] = [
  ["an acknowledged write that is lost", "is lost", withLedger(ledger.slice(0, 2))],
  [
    "a write that was stored twice",
    "not stored exactly once",
    withLedger([...ledger, { ...row(7, 1n, 10, 11, 6), requestId: "r7" }]),
  ],
  [
    "a batch of which a part is missing",
    "not stored exactly once",
    withLedger(ledger.toSpliced(1, 1)),
  ],
  [
    "a batch that two requests stored",
    "not stored exactly once",
    withLedger(ledger.with(1, { ...ledger[1]!, requestId: "r2" })),
  ],
  [
    "two answers that are not replays",
    "was executed 2 times",
    withWrites({ ...batch, answers: [batchAnswer, batchAnswer] }, set, unknown),
  ],
  [
    "a replay with another body",
    "different answers",
    withWrites(
      { ...batch, answers: [batchAnswer, { ...batchAnswer, text: "{}", isReplayed: true }] },
      set,
      unknown,
    ),
  ],
  [
    "a replay with another ETag",
    "different answers",
    withWrites(
      batch,
      { ...set, answers: [setAnswer, { ...setAnswer, etag: '"f-5"', isReplayed: true }] },
      unknown,
    ),
  ],
  [
    "an answer with a version that is not stored",
    "with the versions 6",
    withWrites(batch, { ...set, answers: [{ ...setAnswer, etag: '"e-6"' }] }, unknown),
  ],
  [
    "a write that replaced another version than it named",
    "was to replace version 1 and replaced 2",
    withWrites(batch, { ...set, changes: [{ petId: 2n, quantity: 40, expected: 1 }] }, unknown),
  ],
  [
    "a rejected write that is stored",
    "was rejected and is stored",
    withWrites(batch, { ...set, answers: [{ ...setAnswer, status: 412 }] }, unknown),
  ],
  ["a row that nobody asked for", "nobody asked", withWrites(batch, set)],
  [
    "a sum that differs from the stock",
    "its deltas add up to",
    withLedger(ledger.with(3, { ...ledger[3]!, after: 11 })),
  ],
  ["a read of an old version", "was read after", withRead({ version: 1, quantity: 10 })],
  ["a read with a quantity of another version", "was read with", withRead({ quantity: 12 })],
  [
    "a read of a version that was written later",
    "was read before",
    withRead({ version: 6, quantity: 10 }),
  ],
  [
    "a write before one that was acknowledged earlier",
    "is before it",
    withWrites({ ...batch, start: 30, end: 40 }, set, unknown),
  ],
  ["a gap", "follows a gap", withLedger(ledger.with(3, { ...ledger[3]!, seq: 8 }))],
];

test.each(wrong)("%s is found", (_what, message, broken) => {
  expect(checkSafeWrites(broken).join("\n")).toContain(message);
});
