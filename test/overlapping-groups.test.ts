import { expect, test } from "bun:test";
import { createCommitter } from "../src/domain/commits/commits.ts";
import { createGrouping } from "../src/domain/commits/groups.ts";
import { createTestClock } from "./support/clock.ts";
import { controlledStore, turns, unitOf } from "./support/committing.ts";

/** Groups that are sent before the ones before them have ended. */

const bounds = { groupMax: 100, queueMax: 100, timeoutMs: 60_000 };
const { elapsedMs } = createTestClock();
/** The duration of a transaction, if it matters. */
const lastingMs = 300;

const overlapping = {
  ...bounds,
  grouping: { transactionsMax: 3, overlapMin: 4, callersMax: 4, waitMsMax: 60_000 },
};

/**
 * A committer whose last transaction had this number of callers, and which has seen no rows of other
 * processes for a while.
 */
async function afterCallers(count: number, timeoutMs = bounds.timeoutMs) {
  const store = controlledStore();
  const announced: number[] = [];
  const committer = createCommitter(store, { ...overlapping, timeoutMs }, elapsedMs, (rows) =>
    announced.push(rows[0]!.seq),
  );
  const submit = (ids: readonly number[]) =>
    ids.map((id) => committer.submit(unitOf(1, String(id))));
  let row = 0;
  for (const callers of [...Array.from({ length: 9 }, () => 1), count]) {
    const done = submit(Array.from({ length: callers }, (_, id) => id));
    row += 1;
    await store.begun(row);
    store.transactions.at(-1)!.end(row);
    await Promise.all(done);
  }
  store.transactions.length = 0;
  announced.length = 0;
  /** The numbers of units in the transactions since then. */
  const sizes = () => store.transactions.map(({ ids }) => ids.length);
  return { store, committer, announced, submit, sizes, row };
}

test("many callers are divided among them, and no group is sent before it has its share", async () => {
  const { store, submit, sizes } = await afterCallers(12);
  const done = submit([1, 2, 3, 4]);
  await turns(2);
  expect(sizes()).toEqual([4]);
  done.push(...submit([5, 6, 7]));
  await turns(2);
  expect(sizes()).toEqual([4]);
  done.push(...submit([8]));
  await turns(2);
  expect(sizes()).toEqual([4, 4]);
  done.push(...submit([9, 10, 11, 12]));
  await turns(2);
  expect(sizes()).toEqual([4, 4, 4]);
  // No more than three are under way.
  done.push(...submit([13, 14, 15, 16, 17, 18]));
  await turns(2);
  expect(sizes()).toEqual([4, 4, 4]);
  store.transactions[0]!.end();
  await store.begun(4);
  for (const transaction of store.transactions) transaction.end();
  await Promise.all(done);
  expect(sizes()).toEqual([4, 4, 4, 6]);
});

test("units that wait for their share are sent when a transaction ends and no other is under way", async () => {
  const { store, submit, sizes } = await afterCallers(12);
  const done = submit([1, 2, 3, 4]);
  await turns(2);
  done.push(...submit([5]));
  await turns(2);
  expect(sizes()).toEqual([4]);
  store.transactions[0]!.end();
  await store.begun(2);
  expect(sizes()).toEqual([4, 1]);
  store.transactions[1]!.end();
  await Promise.all(done);
});

test("few callers share one group, and one that arrives later does not wait for another", async () => {
  const few = await afterCallers(4);
  const done = few.submit([1, 2, 3, 4]);
  await turns(2);
  done.push(...few.submit([5]));
  await turns(2);
  expect(few.sizes()).toEqual([4]);
  for (let ended = 0; ended < 2; ended++) {
    await few.store.begun(ended + 1);
    few.store.transactions[ended]!.end();
  }
  await Promise.all(done);

  const single = await afterCallers(1);
  const both = single.submit([1]);
  await turns(2);
  both.push(...single.submit([2]));
  await turns(2);
  expect(single.sizes()).toEqual([1, 1]);
  for (const transaction of single.store.transactions) transaction.end();
  await Promise.all(both);
});

test("rows are announced in the order in which transactions end, whatever is sent in between", async () => {
  const { store, committer, announced, submit, row } = await afterCallers(12);
  const done = submit([1, 2, 3, 4]);
  await turns(2);
  done.push(...submit([5, 6, 7, 8]));
  await turns(2);
  done.push(...submit([9, 10, 11, 12, 13, 14, 15, 16]));
  await turns(2);
  // The end of the first sends a group, the end of the others does not.
  done.push(...submit([17, 18, 19, 20, 21, 22, 23, 24]));
  await turns(2);
  expect(store.transactions).toHaveLength(3);
  for (const later of [1, 2, 3]) store.transactions[later - 1]!.end(row + later);
  await store.begun(4);
  store.transactions[3]!.end(row + 4);
  await Promise.all(done);
  await committer.idle();
  expect(announced).toEqual([1, 2, 3, 4].map((later) => row + later));
});

test("a transaction that hangs stops new updates, also if others end after it", async () => {
  const { store, committer } = await afterCallers(1, 50);
  const unavailable = { status: "rejected", reason: { code: "unavailable" } };
  const hanging = committer.submit(unitOf(1, "hanging"));
  await store.begun(1);
  const other = committer.submit(unitOf(1, "other"));
  await store.begun(2);
  expect(await Promise.allSettled([hanging, other])).toMatchObject([unavailable, unavailable]);
  store.transactions[1]!.end();
  await turns(2);
  expect(committer.isTooSlow()).toBe(true);
  await expect(committer.submit(unitOf(1, "new"))).rejects.toMatchObject({ code: "unavailable" });
  store.transactions[0]!.end();
  await committer.idle();
  expect(committer.isTooSlow()).toBe(false);
});

test("if other processes write, one transaction takes all that waits", async () => {
  const { store, submit, sizes, row } = await afterCallers(12);
  const done = submit([1, 2, 3, 4]);
  await turns(2);
  // Somebody has stored two rows since.
  store.transactions[0]!.end(row + 3);
  await Promise.all(done);
  const first = submit([1, 2, 3, 4]);
  await store.begun(2);
  const later = submit([5, 6, 7, 8, 9, 10, 11, 12]);
  await turns(5);
  expect(sizes()).toEqual([4, 4]);
  store.transactions[1]!.end(row + 4);
  await store.begun(3);
  expect(sizes()).toEqual([4, 4, 8]);
  store.transactions[2]!.end(row + 5);
  await Promise.all([...first, ...later]);
});

test("a group that may not overlap waits for those before it, and nothing is sent beside it", async () => {
  const { store, committer, submit, sizes } = await afterCallers(12);
  const done = submit([1, 2, 3, 4]);
  await turns(2);
  done.push(...submit([5, 6, 7]), committer.submit(unitOf(1, "alone")));
  await turns(2);
  done.push(...submit([9, 10, 11, 12]));
  await turns(2);
  expect(sizes()).toEqual([4]);
  store.transactions[0]!.end();
  await store.begun(2);
  expect(store.transactions[1]!.ids).toContain("alone");
  done.push(...submit([13, 14, 15, 16, 17, 18]));
  await turns(2);
  expect(sizes()).toEqual([4, 8]);
  store.transactions[1]!.end();
  await store.begun(3);
  expect(sizes()).toEqual([4, 8, 6]);
  store.transactions[2]!.end();
  await Promise.all(done);
});

test("what waits while nothing is under way is sent at once, unless it is little or others write", () => {
  const grouping = createGrouping(
    { ...overlapping.grouping, overlapMin: 4, callersMax: 8 },
    elapsedMs,
  );
  let row = 0;
  const transaction = (changes: number, foreignRows = 0) => {
    grouping.begun(changes);
    grouping.stored(row + foreignRows + 1, row + foreignRows + changes);
    row += foreignRows + changes;
    grouping.ended(changes, lastingMs, 0);
  };
  for (let count = 0; count < 10; count++) transaction(6);
  expect(grouping.waitMs(1)).toBe(0);
  transaction(4);
  expect(grouping.waitMs(1)).toBeGreaterThan(0);
  transaction(6, 2);
  expect(grouping.waitMs(1)).toBeGreaterThan(0);
  transaction(9, 2);
  expect(grouping.waitMs(1)).toBe(0);
});
