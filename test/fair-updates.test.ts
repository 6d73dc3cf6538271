import { describe, expect, test } from "bun:test";
import { createCommitter } from "../src/domain/commits/commits.ts";
import { createTestClock } from "./support/clock.ts";
import { controlledStore, oneAtATime, turns, unitOf } from "./support/committing.ts";

/** No key keeps the updates of another from being stored. */

const { elapsedMs, advance } = createTestClock();
const timeoutMs = 60_000;
const bounds = { groupMax: 8, queueMax: 100, timeoutMs, grouping: oneAtATime };

/** A committer whose first transaction is under way until the test ends it, and units by key. */
async function busyCommitter(given = bounds) {
  const store = controlledStore();
  const committer = createCommitter(store, given, elapsedMs, () => {});
  const outcomes: Promise<unknown>[] = [];
  /** The first letter of a name is the key. */
  const submit = (size: number, ...names: readonly string[]) => {
    for (const name of names) outcomes.push(committer.submit(unitOf(size, name, name[0]!)));
  };
  submit(1, "first");
  await store.begun(1);
  return {
    committer,
    submit,
    transactions: store.transactions,
    /** Ends the transaction under way, and returns the units of the next one. */
    async next(): Promise<(string | null)[]> {
      const count = store.transactions.length;
      store.transactions[count - 1]!.end();
      await store.begun(count + 1);
      return store.transactions[count]!.ids;
    },
    /** Ends the transaction under way and those after it, until nothing waits. */
    async end(): Promise<void> {
      let isIdle = false;
      const ended = Promise.all(outcomes).then(() => {
        isIdle = true;
      });
      for (let count = 0; !isIdle; await turns(1)) {
        if (count < store.transactions.length) store.transactions.at(-1)!.end();
        count = store.transactions.length;
      }
      await ended;
    },
  };
}

describe("while more updates wait than one transaction takes", () => {
  test("keys take turns, and the updates of each are stored in their order", async () => {
    const { submit, next, end } = await busyCommitter();
    submit(8, "a1", "a2", "a3", "a4");
    submit(1, "b1", "c1", "b2", "c2", "b3");
    await turns(2);
    expect(await next()).toEqual(["a1"]);
    expect(await next()).toEqual(["b1", "c1", "b2", "c2", "b3"]);
    // Who arrives now waits for one turn of the others, not for all that waits.
    submit(1, "d1", "b4");
    await turns(2);
    expect(await next()).toEqual(["a2"]);
    expect(await next()).toEqual(["d1", "b4"]);
    expect(await next()).toEqual(["a3"]);
    expect(await next()).toEqual(["a4"]);
    await end();
  });

  test("a turn has up to an eighth of a transaction, or one larger batch, and what fits is filled up", async () => {
    const { submit, next, end } = await busyCommitter({ ...bounds, groupMax: 32 });
    submit(30, "a1", "a2");
    submit(1, ...Array.from({ length: 6 }, (_, at) => `b${at}`), "c1");
    submit(3, "c2", "c3");
    await turns(2);
    expect(await next()).toEqual(["a1", "b0", "b1"]);
    expect(await next()).toEqual(["b2", "b3", "b4", "b5", "c1", "c2", "c3"]);
    expect(await next()).toEqual(["a2"]);
    await end();
  });

  test("all that fits into one transaction is stored in the order of its arrival", async () => {
    const { submit, next, end } = await busyCommitter();
    submit(1, "a1", "a2", "b1", "a3", "c1", "b2", "a4", "a5");
    await turns(2);
    expect(await next()).toEqual(["a1", "a2", "b1", "a3", "c1", "b2", "a4", "a5"]);
    await end();
  });
});

describe("a key may have as many changes waiting as it leaves free:", () => {
  const tooMany = { code: "unavailable", reason: "tooManyUpdates" };
  const tooManyOwn = {
    code: "unavailable",
    reason: "tooManyOwnUpdates",
    message: expect.stringContaining("This key has too many updates"),
  };

  test("alone half of all, two such keys a third each, and others still have room", async () => {
    const { committer, submit, end } = await busyCommitter({ ...bounds, queueMax: 12 });
    submit(2, "a1", "a2", "a3");
    await expect(committer.submit(unitOf(1, "a4", "a"))).rejects.toMatchObject(tooManyOwn);
    await turns(2);
    await expect(committer.submit(unitOf(1, "a4", "a"))).rejects.toMatchObject(tooManyOwn);
    submit(1, "b1", "b2", "b3");
    await expect(committer.submit(unitOf(1, "b4", "b"))).rejects.toMatchObject(tooManyOwn);
    submit(1, "c1", "d1", "e1");
    await expect(committer.submit(unitOf(1, "f1", "f"))).rejects.toMatchObject(tooMany);
    expect(committer.waiting()).toBe(12);
    await end();
  });

  test("a batch that fills the queue is accepted from a key that has nothing waiting", async () => {
    const { committer, submit, next, end } = await busyCommitter({ ...bounds, queueMax: 12 });
    submit(12, "a1");
    expect(committer.waiting()).toBe(12);
    await turns(2);
    expect(await next()).toEqual(["a1"]);
    await end();
  });
});

test("an update that has waited too long is rejected alone, and is not sent", async () => {
  const { committer, submit, next, end } = await busyCommitter();
  submit(8, "a1");
  const late = committer.submit(unitOf(1, "a2", "a")).catch((error) => error);
  await turns(2);
  // The others have half of the time left when the first one has none.
  advance(timeoutMs / 2);
  submit(8, "b1");
  submit(1, "c1");
  await turns(2);
  expect(await next()).toEqual(["a1"]);
  expect(await next()).toEqual(["b1"]);
  advance(timeoutMs / 2);
  expect(await next()).toEqual(["c1"]);
  expect(await late).toMatchObject({ code: "unavailable", reason: "timeout" });
  await end();
});
