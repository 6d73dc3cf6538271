import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isReady } from "../src/compose/readiness.ts";
import { createCommitter } from "../src/domain/commits/commits.ts";
import { createFollower } from "../src/domain/inventory/follower.ts";
import { shared } from "../src/domain/running/background.ts";
import { unavailable } from "../src/domain/running/errors.ts";
import { createInventoryList } from "../src/http/list/list.ts";
import { createTestClock } from "./support/clock.ts";
import { oneAtATime } from "./support/committing.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";
import { setUnit } from "./support/units.ts";

/** A store whose commits are slow: updates wait for it in vain, while reads work. */

/** More than the second from which on a commit is slow. */
const slowMs = 1_010;
/** How long a service is not ready after the last slow commit. */
const slownessMs = 5_000;

describe.each([surfaceEngine])("a service on %s", (engine) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(engine);
    await service.addPets({ petId: 1n });
  });
  afterAll(() => service.stop());

  /** The parts that decide about readiness, with a store whose commits take their time. */
  function withSlowStore() {
    const { elapsedMs, advance } = createTestClock();
    const { inventory } = service.store;
    /** Runs before a commit reaches the store. */
    let delay = async () => {};
    const slow: Pick<typeof inventory, "commit" | "mayOverlap"> = {
      mayOverlap: () => false,
      async commit(...args) {
        await delay();
        return inventory.commit(...args);
      },
    };
    const bounds = { groupMax: 10, queueMax: 40, timeoutMs: 2_000, grouping: oneAtATime };
    const committer = createCommitter(slow, bounds, elapsedMs, () => {});
    const list = createInventoryList(100, () => {});
    const follower = createFollower(inventory, list, () => {});
    const parts = { store: service.store, committer, follower };
    return {
      advance,
      idle: committer.idle,
      ready: () => isReady({ connect: async () => true }, parts),
      update: () =>
        committer.submit(setUnit(1n, 2)).then(
          () => "stored",
          (error) => error.reason,
        ),
      /** Commits take this long, and then fail if an error is given. */
      delayBy(ms: number, error?: Error) {
        delay = async () => {
          advance(ms);
          if (error) throw error;
        };
      },
      delayUntil(promise: Promise<void>) {
        delay = () => promise;
      },
    };
  }

  test("is not ready after an update failed because a commit was slow, until one is fast", async () => {
    const { ready, update, delayBy } = withSlowStore();
    expect(await update()).toBe("stored");
    expect(await ready()).toBe(true);
    delayBy(slowMs, unavailable("unreachable"));
    expect(await update()).toBe("unreachable");
    expect(await ready()).toBe(false);
    // A commit that is slow and succeeds changes nothing.
    delayBy(slowMs);
    expect(await update()).toBe("stored");
    expect(await ready()).toBe(false);
    delayBy(0);
    expect(await update()).toBe("stored");
    expect(await ready()).toBe(true);
  });

  test("is not ready while an update takes longer than its client waits, nor right after it", async () => {
    const { ready, update, advance, delayBy, delayUntil, idle } = withSlowStore();
    const { promise, resolve } = Promise.withResolvers<void>();
    delayUntil(promise);
    expect(await update()).toBe("unknownOutcome");
    expect(await ready()).toBe(false);
    advance(slowMs);
    resolve();
    await idle();
    expect(await ready()).toBe(false);
    delayBy(0);
    expect(await update()).toBe("stored");
    expect(await ready()).toBe(true);
  });

  test("is ready again by itself if it gets no updates", async () => {
    const { ready, update, advance, delayBy } = withSlowStore();
    delayBy(slowMs, unavailable("unreachable"));
    expect(await update()).toBe("unreachable");
    expect(await ready()).toBe(false);
    advance(slownessMs);
    expect(await ready()).toBe(true);
  });

  test("stays ready if updates are slow and succeed, or if they wait for a lock in vain", async () => {
    const { ready, update, delayBy } = withSlowStore();
    delayBy(slowMs);
    expect(await update()).toBe("stored");
    expect(await ready()).toBe(true);
    delayBy(slowMs, unavailable("busy"));
    expect(await update()).toBe("busy");
    expect(await ready()).toBe(true);
  });
});

test("requests for the readiness share a look while it runs, and the next one looks again", async () => {
  const looks: PromiseWithResolvers<boolean>[] = [];
  const ready = shared(() => {
    looks.push(Promise.withResolvers());
    return looks.at(-1)!.promise;
  });
  const first = [ready(), ready(), ready()];
  expect(looks).toHaveLength(1);
  looks[0]!.resolve(true);
  expect(await Promise.all(first)).toEqual([true, true, true]);
  const second = ready();
  expect(looks).toHaveLength(2);
  looks[1]!.reject(new Error("no answer"));
  await expect(second).rejects.toThrow("no answer");
  void ready();
  expect(looks).toHaveLength(3);
});
