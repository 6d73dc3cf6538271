import { describe, expect, test } from "bun:test";
import { createCommitter } from "../src/domain/commits.ts";
import { createGrouping } from "../src/domain/grouping.ts";
import { controlledStore, turns, unitOf } from "./support/committing.ts";

const bounds = {
  groupMax: 100,
  queueMax: 100,
  timeoutMs: 60_000,
  grouping: { transactionsMax: 1, overlapMin: 0, callersMax: 8, waitMsMax: 60_000 },
};
/** The duration of a transaction. Half of it is long enough for callers to return. */
const lastingMs = 300;

test("callers that return after their outcomes share one transaction, however they arrive", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, () => {});
  const callers = ["a", "b", "c", "d"];
  const done = callers.map(async (id, at) => {
    await committer.submit(unitOf(1, id));
    await turns(at);
    await committer.submit(unitOf(1, id));
  });
  await store.begun(1);
  await Bun.sleep(lastingMs);
  store.transactions[0]!.end();
  await store.begun(2);
  store.transactions[1]!.end();
  await Promise.all(done);
  expect(store.transactions.map(({ ids }) => ids)).toEqual([callers, callers]);
});

test("a caller that is alone does not wait for others", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, () => {});
  const first = committer.submit(unitOf(1, "first"));
  await store.begun(1);
  await Bun.sleep(lastingMs);
  store.transactions[0]!.end();
  await first;
  const second = committer.submit(unitOf(1, "second"));
  // Sent long before half of the last transaction's duration has passed.
  await turns(5);
  expect(store.transactions).toHaveLength(2);
  store.transactions[1]!.end();
  await second;
});

test("a group waits for callers that do not return, but not for ever", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, () => {});
  const gone = ["a", "b", "c"].map((id) => committer.submit(unitOf(1, id)));
  await store.begun(1);
  await Bun.sleep(lastingMs);
  store.transactions[0]!.end();
  await Promise.all(gone);
  const single = committer.submit(unitOf(1, "single"));
  await turns(5);
  expect(store.transactions).toHaveLength(1);
  await store.begun(2);
  store.transactions[1]!.end();
  await single;
  // The next one is alone again.
  const next = committer.submit(unitOf(1, "next"));
  await store.begun(3);
  store.transactions[2]!.end();
  await next;
  await committer.idle();
  expect(committer.waiting).toBe(0);
});

test("units that gather after a failed transaction are stored, and it is idle only after that", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, () => {});
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
  await Bun.sleep(lastingMs);
  store.transactions[0]!.fail(new Error("lost"));
  await Promise.all(failed);
  expect(outcomes).toEqual(["a failed", "b failed", "c failed"]);
  expect(store.transactions).toHaveLength(1);
  const gathering = submit("gathering");
  const isIdle = committer.idle().then(() => outcomes.push("idle"));
  await store.begun(2);
  store.transactions[1]!.end();
  await Promise.all([behind, gathering, isIdle]);
  expect(outcomes.slice(3)).toEqual(["behind stored", "gathering stored", "idle"]);
  expect(store.transactions[1]!.ids).toEqual(["behind", "gathering"]);
  expect(committer.waiting).toBe(0);
});

test("more units than it gathers are sent at once", async () => {
  const store = controlledStore();
  const committer = createCommitter(store, bounds, () => {});
  const many = Array.from({ length: 9 }, (_, at) => committer.submit(unitOf(1, `${at}`)));
  await store.begun(1);
  await Bun.sleep(lastingMs);
  store.transactions[0]!.end();
  await Promise.all(many);
  const single = committer.submit(unitOf(1, "single"));
  await turns(5);
  expect(store.transactions).toHaveLength(2);
  store.transactions[1]!.end();
  await single;
});

describe("while transactions may overlap", () => {
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
    const committer = createCommitter(store, { ...overlapping, timeoutMs }, (rows) =>
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
    expect(committer.isStuck).toBe(true);
    await expect(committer.submit(unitOf(1, "new"))).rejects.toMatchObject({ code: "unavailable" });
    store.transactions[0]!.end();
    await committer.idle();
    expect(committer.isStuck).toBe(false);
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
    const grouping = createGrouping({ ...overlapping.grouping, overlapMin: 4, callersMax: 8 });
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
});
