import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { startTestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import { pass } from "../support/until.ts";

/** A service's store with one pet, and a connection that can lock it. */
async function openLockable() {
  const stack = new AsyncDisposableStack();
  const service = await startTestService("sqlite");
  stack.defer(() => service.stop());
  await service.addPets({ petId: 1n, quantity: 5 });
  const path = service.databaseUrl.replace("sqlite:", "");
  const holder = stack.adopt(new Database(path), (opened) => opened.close());
  holder.run("BEGIN IMMEDIATE");
  const commit = (quantity: number, withinMs: number) =>
    service.store.inventory.commit([setUnit(1n, quantity)], withinMs);
  return { stack, holder, commit };
}

/**
 * Each write used to wait for the lock after those before it. The connections of the last ones were
 * closed without a response, and what they had asked for was stored later.
 */
test("writes that wait for another process at the same time all fail at about the same time", async () => {
  const { stack, holder, commit } = await openLockable();
  await using _ = stack;
  const waitMs = 3_000;
  const startedMs = performance.now();
  const writes = Array.from({ length: 8 }, (_, at) =>
    commit(at, waitMs).catch((error) => error.reason),
  );
  expect(new Set(await Promise.all(writes))).toEqual(new Set(["busy"]));
  expect(performance.now() - startedMs).toBeLessThan(5 * waitMs);
  holder.run("ROLLBACK");
  const { outcomes } = await commit(9, waitMs);
  expect(outcomes[0]!.kind).toBe("stored");
});

test("an update whose turn comes after its caller has given up is not stored", async () => {
  const { stack, holder, commit } = await openLockable();
  await using _ = stack;
  const patient = commit(6, 60_000);
  const impatient = commit(7, 0).catch((error) => error.reason);
  // Longer than the second caller waits. The thread is busy with the first one.
  await pass(1_500);
  holder.run("ROLLBACK");
  expect((await patient).outcomes[0]!.kind).toBe("stored");
  expect(await impatient).toBe("timeout");
  const { rows } = await commit(8, 60_000);
  expect(rows).toMatchObject([{ seq: 3, after: { quantity: 8 } }]);
});
