import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { startWriterThread } from "../../src/store/sqlite/engine/writer-thread.ts";
import { startTestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";

/**
 * Each write used to wait for the lock after those before it. The connections of the last ones were
 * closed without a response, and what they had asked for was stored later.
 */
test("writes that wait for another process at the same time all fail at about the same time", async () => {
  const service = await startTestService("sqlite");
  await service.addPets({ petId: 1n, quantity: 5 });
  const path = service.databaseUrl.replace("sqlite:", "");
  await using stack = new AsyncDisposableStack();
  stack.defer(() => service.stop());
  const writer = await startWriterThread(path, "production", () => {});
  stack.defer(() => writer.close());
  using holder = new Database(path);
  holder.run("BEGIN IMMEDIATE");
  const waitMs = 1_000;
  const startedMs = performance.now();
  const writes = Array.from({ length: 8 }, (_, at) =>
    writer.commit([setUnit(1n, at)], service.clock.now(), waitMs).catch((error) => error.reason),
  );
  expect(new Set(await Promise.all(writes))).toEqual(new Set(["busy"]));
  expect(performance.now() - startedMs).toBeLessThan(5 * waitMs);
  holder.run("ROLLBACK");
  const { outcomes } = await writer.commit([setUnit(1n, 9)], service.clock.now(), waitMs);
  expect(outcomes[0]!.kind).toBe("stored");
});
