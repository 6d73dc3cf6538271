import { describe, expect, test } from "bun:test";
import { createCommitter } from "../src/domain/commits/commits.ts";
import type { Committed, StockRow, Unit } from "../src/domain/ledger/ledger.ts";
import { monotonicMs } from "../src/domain/running/background.ts";
import { createTestClock } from "./support/clock.ts";
import { controlledStore, oneAtATime, turns, unitOf, unknown } from "./support/committing.ts";
import { setUnit } from "./support/units.ts";
import { pass } from "./support/until.ts";

const unit = (petId: bigint) => setUnit(petId, 1);
const { elapsedMs, advance } = createTestClock();
const mayOverlap = () => false;

/** A store that records the request ids of each transaction, and delays the first one. */
function recordingStore() {
  const first = Promise.withResolvers<void>();
  const transactions: (string | null)[][] = [];
  return {
    transactions,
    releaseFirst: first.resolve,
    mayOverlap,
    async commit(units: readonly Unit[]): Promise<Committed> {
      transactions.push(units.map(({ requestId }) => requestId));
      if (transactions.length === 1) await first.promise;
      return unknown(units);
    },
  };
}

test("no update waits for a disk that hangs, and what the disk stores in the end is announced", async () => {
  const hanging = Promise.withResolvers<void>();
  const committed: (readonly StockRow[])[] = [];
  const row = { seq: 1, petId: 1n, after: null };
  let commits = 0;
  const store = {
    mayOverlap,
    async commit(units: readonly Unit[]): Promise<Committed> {
      commits += 1;
      if (commits === 1) await hanging.promise;
      return { ...unknown(units), rows: [row] };
    },
  };
  const bounds = { groupMax: 10, queueMax: 10, timeoutMs: 50, grouping: oneAtATime };
  const committer = createCommitter(store, bounds, elapsedMs, (rows) => committed.push(rows));
  const refused = expect.objectContaining({ code: "unavailable" });

  const first = committer.submit(unit(1n));
  const behind = turns(2).then(() => committer.submit(unit(2n)));
  const [sent, unsent] = await Promise.allSettled([first, behind]);
  expect(sent).toEqual({ status: "rejected", reason: refused });
  expect(sent).toMatchObject({ reason: { message: expect.stringContaining("not known whether") } });
  expect(unsent).toEqual({ status: "rejected", reason: refused });
  await expect(committer.submit(unit(3n))).rejects.toEqual(refused);
  expect(commits).toBe(1);
  expect(committer.isTooSlow()).toBe(true);

  hanging.resolve();
  await committer.idle();
  expect(committer.isTooSlow()).toBe(false);
  expect(committed).toEqual([[row]]);
  expect(await committer.submit(unit(4n))).toMatchObject({ reason: "not_found" });
  expect(commits).toBe(2);
});

test("if a commit fails after more than a second, the updates behind it are rejected and not sent", async () => {
  const store = controlledStore();
  const bounds = { groupMax: 10, queueMax: 40, timeoutMs: 60_000, grouping: oneAtATime };
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const submit = (id: string) => committer.submit(unitOf(1, id)).catch((error) => error);
  const failing = submit("failing");
  await store.begun(1);
  const behind = submit("behind");
  advance(1_010);
  const failure = new Error("lost");
  store.transactions[0]!.fail(failure);
  expect(await failing).toBe(failure);
  expect(await behind).toMatchObject({ code: "unavailable", reason: "timeout" });
  await committer.idle();
  // Updates that arrive after the failure are sent.
  const last = submit("last");
  await store.begun(2);
  store.transactions[1]!.end();
  expect(await last).toMatchObject({ reason: "not_found" });
  expect(store.transactions.map(({ ids }) => ids)).toEqual([["failing"], ["last"]]);
});

test("an update that has waited for most of its time is rejected and not stored", async () => {
  const store = controlledStore();
  const bounds = { groupMax: 10, queueMax: 40, timeoutMs: 60_000, grouping: oneAtATime };
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const submit = (id: string) => committer.submit(unitOf(1, id)).catch((error) => error);
  void submit("slow");
  await store.begun(1);
  const expired = submit("expired");
  advance(30_000);
  const fresh = submit("fresh");
  // The rest of its time would be too short for a transaction.
  advance(16_000);
  store.transactions[0]!.end();
  await store.begun(2);
  store.transactions[1]!.end();
  expect(await expired).toMatchObject({ code: "unavailable", reason: "timeout" });
  expect(await fresh).toMatchObject({ reason: "not_found" });
  expect(store.transactions.map(({ ids }) => ids)).toEqual([["slow"], ["fresh"]]);
});

test("an update is rejected in time while a transaction of younger updates of other keys is under way", async () => {
  const store = controlledStore();
  const bounds = { groupMax: 1, queueMax: 40, timeoutMs: 500, grouping: oneAtATime };
  const committer = createCommitter(store, bounds, monotonicMs, () => {});
  const settled: unknown[] = [];
  const submit = (id: string, keyId: string) =>
    committer.submit(unitOf(1, id, keyId)).then(
      () => settled.push(id),
      ({ reason }) => settled.push([id, reason]),
    );
  void submit("first", "till");
  await store.begun(1);
  void submit("second", "till");
  const third = submit("third", "till");
  // The third expires while the younger one is under way.
  await pass(20);
  const younger = submit("younger", "shop");
  await turns(2);
  for (const at of [0, 1]) {
    store.transactions[at]!.end();
    await store.begun(at + 2);
  }
  // Keys take turns.
  expect(store.transactions.map(({ ids }) => ids)).toEqual([["first"], ["second"], ["younger"]]);
  await Promise.all([third, younger]);
  expect(settled.slice(2)).toEqual([
    ["third", "timeout"],
    ["younger", "unknownOutcome"],
  ]);
});

describe("a group", () => {
  const bounds = { groupMax: 4, queueMax: 40, timeoutMs: 1_000, grouping: oneAtATime };

  test("is bounded by its changes, not its units, and keeps the order of arrival", async () => {
    const store = recordingStore();
    const committer = createCommitter(store, bounds, elapsedMs, () => {});
    const sizes = [2, 2, 1, 3, 1, 1, 1, 1, 4, 3, 1];
    const done = sizes.map((size, at) => committer.submit(unitOf(size, String(at))));
    store.releaseFirst();
    await Promise.all(done);
    expect(store.transactions).toEqual([
      ["0", "1"],
      ["2", "3"],
      ["4", "5", "6", "7"],
      ["8"],
      ["9", "10"],
    ]);
  });

  test("contains nothing else if it contains a unit that is larger than the bound", async () => {
    const store = recordingStore();
    const committer = createCommitter(store, bounds, elapsedMs, () => {});
    const done = [1, 9, 1, 5].map((size, at) => committer.submit(unitOf(size, String(at))));
    store.releaseFirst();
    await Promise.all(done);
    expect(store.transactions).toEqual([["0"], ["1"], ["2"], ["3"]]);
  });

  test("contains the counts of one stocktake at most, because each may read many rows", async () => {
    const store = recordingStore();
    const large = { ...bounds, groupMax: 40 };
    const committer = createCommitter(store, large, elapsedMs, () => {});
    const count = { petId: 1n, kind: "count", amount: 1, countedAt: { seq: 1 } } as const;
    const done = ["sale", "count", "sale", "count", "count", "sale"].map((kind, at) => {
      const one = unitOf(1, `${kind} ${at}`);
      return committer.submit(
        kind === "sale" ? one : { ...one, changes: [{ ...count, reason: null }] },
      );
    });
    store.releaseFirst();
    await Promise.all(done);
    expect(store.transactions).toEqual([
      ["sale 0", "count 1", "sale 2"],
      ["count 3"],
      ["count 4", "sale 5"],
    ]);
  });
});

test("the queue is bounded by its changes, and rejected or dropped units leave room for others", async () => {
  const store = recordingStore();
  const bounds = { groupMax: 10, queueMax: 5, timeoutMs: 1_000, grouping: oneAtATime };
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const full = { code: "unavailable", message: expect.stringContaining("Too many updates") };
  const underWay = committer.submit(unitOf(5, "under way"));
  await expect(committer.submit(unitOf(1, "rejected"))).rejects.toMatchObject(full);
  await turns(2);
  // A transaction has taken the first unit, so the whole queue is free again.
  const connection = new AbortController();
  const dropped = committer.submit(unitOf(3, "dropped", "a"), connection.signal);
  await expect(committer.submit(unitOf(3, "rejected", "b"))).rejects.toMatchObject(full);
  const waiting = committer.submit(unitOf(2, "waiting", "b"));
  connection.abort();
  store.releaseFirst();
  expect(await dropped.catch((error) => error)).toMatchObject({ code: "invalid_request" });
  await Promise.all([underWay, waiting]);
  await committer.submit(unitOf(5, "last"));
  expect(store.transactions).toEqual([["under way"], ["waiting"], ["last"]]);
});

test("rows are announced before the callers learn the outcome, and only when there are any", async () => {
  const events: string[] = [];
  const row = { seq: 1, petId: 1n, after: null };
  let rows: StockRow[] = [];
  const commit = async (units: readonly Unit[]) => ({ ...unknown(units), rows });
  const bounds = { groupMax: 4, queueMax: 4, timeoutMs: 1_000, grouping: oneAtATime };
  const committer = createCommitter({ commit, mayOverlap }, bounds, elapsedMs, () =>
    events.push("announced"),
  );
  const submit = () => committer.submit(unit(1n)).then(() => events.push("resolved"));
  await submit();
  rows = [row];
  await Promise.all([submit(), submit()]);
  expect(events).toEqual(["resolved", "announced", "resolved", "resolved"]);
});

test("a group is sent before the callers of the group before it get their outcomes", async () => {
  const store = controlledStore();
  const bounds = { groupMax: 4, queueMax: 20, timeoutMs: 1_000, grouping: oneAtATime };
  const committer = createCommitter(store, bounds, elapsedMs, () => {});
  const sentBefore: number[] = [];
  const submit = (id: string) =>
    committer.submit(unitOf(1, id)).then(
      () => sentBefore.push(store.transactions.length),
      () => sentBefore.push(-store.transactions.length),
    );
  const first = submit("first");
  await store.begun(1);
  const second = submit("second");
  await turns(2);
  store.transactions[0]!.end();
  await store.begun(2);
  expect(sentBefore).toEqual([]);
  await first;
  expect(sentBefore).toEqual([2]);
  const third = submit("third");
  await turns(2);
  // A failure is reported in the same order, and takes no other unit with it.
  store.transactions[1]!.fail(new Error("lost"));
  await store.begun(3);
  await second;
  expect(sentBefore).toEqual([2, -3]);
  store.transactions[2]!.end();
  await third;
  await committer.idle();
  expect(sentBefore).toEqual([2, -3, 3]);
  expect(store.transactions.map(({ ids }) => ids)).toEqual([["first"], ["second"], ["third"]]);
});
