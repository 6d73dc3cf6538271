import { expect, test } from "bun:test";
import { createCommitter } from "../src/domain/commits/commits.ts";
import { createTestClock } from "./support/clock.ts";
import { controlledStore, turns, unitOf } from "./support/committing.ts";

const bounds = {
  groupMax: 100,
  queueMax: 100,
  timeoutMs: 60_000,
  grouping: { transactionsMax: 1, overlapMin: 0, callersMax: 8, waitMsMax: 60_000 },
};
const { elapsedMs, advance } = createTestClock();
/** The duration of a transaction. Callers have half of it to return. */
const lastingMs = 20;

test("callers that return after their outcomes share one transaction, however they arrive", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const callers = ["a", "b", "c", "d"];
  const done = callers.map(async (id, at) => {
    await committer.submit(unitOf(1, id));
    await turns(at);
    await committer.submit(unitOf(1, id));
  });
  await store.begun(1);
  advance(lastingMs);
  store.transactions[0]!.end();
  await store.begun(2);
  store.transactions[1]!.end();
  await Promise.all(done);
  expect(store.transactions.map(({ ids }) => ids)).toEqual([callers, callers]);
});

test("a caller that is alone does not wait for others", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const first = committer.submit(unitOf(1, "first"));
  await store.begun(1);
  advance(lastingMs);
  store.transactions[0]!.end();
  await first;
  const second = committer.submit(unitOf(1, "second"));
  await turns(5);
  expect(store.transactions).toHaveLength(2);
  store.transactions[1]!.end();
  await second;
});

test("a group waits for callers that do not return, but not for ever", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const gone = ["a", "b", "c"].map((id) => committer.submit(unitOf(1, id)));
  await store.begun(1);
  advance(lastingMs);
  store.transactions[0]!.end();
  await Promise.all(gone);
  const single = committer.submit(unitOf(1, "single"));
  await turns(5);
  expect(store.transactions).toHaveLength(1);
  advance(lastingMs / 2);
  await store.begun(2);
  store.transactions[1]!.end();
  await single;
  // The next one is alone again.
  const next = committer.submit(unitOf(1, "next"));
  await store.begun(3);
  store.transactions[2]!.end();
  await next;
  await committer.idle();
  expect(committer.waiting()).toBe(0);
});

test("units that gather after a failed transaction are stored, and it is idle only after that", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const outcomes: string[] = [];
  const submit = (id: string) =>
    committer.submit(unitOf(1, id)).then(
      () => outcomes.push(`${id} stored`),
      () => outcomes.push(`${id} failed`),
    );
  const failed = [submit("a"), submit("b"), submit("c")];
  await store.begun(1);
  // One waits behind the transaction that fails, one arrives while the next group gathers.
  const behind = submit("behind");
  advance(lastingMs);
  store.transactions[0]!.fail(new Error("lost"));
  await Promise.all(failed);
  expect(outcomes).toEqual(["a failed", "b failed", "c failed"]);
  expect(store.transactions).toHaveLength(1);
  const gathering = submit("gathering");
  const isIdle = committer.idle().then(() => outcomes.push("idle"));
  await turns(2);
  advance(lastingMs / 2);
  await store.begun(2);
  store.transactions[1]!.end();
  await Promise.all([behind, gathering, isIdle]);
  expect(outcomes.slice(3)).toEqual(["behind stored", "gathering stored", "idle"]);
  expect(store.transactions[1]!.ids).toEqual(["behind", "gathering"]);
  expect(committer.waiting()).toBe(0);
});

test("more units than it gathers are sent at once", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const many = Array.from({ length: 9 }, (_, at) => committer.submit(unitOf(1, `${at}`)));
  await store.begun(1);
  advance(lastingMs);
  store.transactions[0]!.end();
  await Promise.all(many);
  const single = committer.submit(unitOf(1, "single"));
  await turns(5);
  expect(store.transactions).toHaveLength(2);
  store.transactions[1]!.end();
  await single;
});
