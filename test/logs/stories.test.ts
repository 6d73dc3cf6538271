import { Database, SQLiteError } from "bun:sqlite";
import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { createStoreStates } from "../../src/domain/operations/store-states.ts";
import { unavailableOr } from "../../src/store/sqlite/engine/connection.ts";
import { createTestClock } from "../support/clock.ts";
import { startTestService } from "../support/service.ts";
import { pass, until } from "../support/until.ts";

/** Short, so that the test does not wait, but longer than a busy machine takes for the next request. */
const bounds = { failuresQuietMs: 2_000 };

test("the log tells in three lines that the file was moved, and nothing more until a restart", async () => {
  const service = await startTestService("sqlite", {}, bounds);
  await service.addPets({ petId: 1n });
  const { text: key } = await service.issueKey();
  const update = () => service.call("PATCH", "/inventory/1", { key, body: '{"quantity":4}' });
  expect((await update()).status).toBe(200);
  const file = service.databaseUrl.slice("sqlite:".length);
  const events = () => service.logged.map((line) => JSON.parse(line));
  renameSync(file, `${file}.moved`);
  await until(() => events().length > 0, 10_000, "the first event");
  const refused = await update();
  expect(refused.status).toBe(503);
  for (let sent = 0; sent < 20; sent++) expect((await update()).status).toBe(503);
  // Longer than the time after which requests count as no longer failing, and usage is saved.
  await pass(bounds.failuresQuietMs + 100);
  expect((await update()).status).toBe(503);
  const requestId = refused.headers.get("X-Request-Id");
  const cause = `${file} was deleted or moved away`;
  expect(events()).toMatchObject([
    { event: "store file damaged", file, todo: expect.stringContaining("estart") },
    { event: "requests failing", reason: "unwritable", cause, requestId },
  ]);
  renameSync(`${file}.moved`, file);
  await service.restart();
  expect((await update()).status).toBe(200);
  expect(events().slice(2)).toMatchObject([{ event: "usage and bans not saved", cause }]);
  await service.stop();
});

test("a bug that fails many requests is logged once with its stack, and its end with the number", async () => {
  const service = await startTestService("sqlite", {}, bounds);
  const { text: key } = await service.issueKey();
  const database = new Database(service.databaseUrl.slice("sqlite:".length));
  database.run("ALTER TABLE orders RENAME TO elsewhere");
  const ask = () => service.call("GET", "/store/orders", { key });
  const first = await ask();
  for (let sent = 0; sent < 9; sent++) expect((await ask()).status).toBe(500);
  database.run("ALTER TABLE elsewhere RENAME TO orders");
  database.close();
  await until(() => service.logged.length >= 2, 10_000, "the end of the failures");
  expect((await ask()).status).toBe(200);
  const requestId = first.headers.get("X-Request-Id");
  expect(service.logged.map((line) => JSON.parse(line))).toMatchObject([
    {
      event: "bug",
      requestId,
      operation: "listOrders",
      error: expect.stringMatching(/no such table.*\n/),
    },
    { event: "requests stopped failing", reason: "bug", failures: 10 },
  ]);
  await service.stop();
});

test("a full disk is named as the cause, and a write that succeeds meanwhile is not the end", async () => {
  const database = new Database(":memory:");
  database.run("PRAGMA max_page_count = 2");
  let full: unknown;
  try {
    database.run("CREATE TABLE one (a)");
    for (;;) database.run("INSERT INTO one VALUES (zeroblob(500))");
  } catch (error) {
    expect(error).toBeInstanceOf(SQLiteError);
    full = unavailableOr(error);
  }
  const logged: unknown[] = [];
  const states = createStoreStates({
    log: (event, details) => void logged.push({ event, ...details }),
    isShared: false,
    canWrite: () => true,
  });
  for (let round = 0; round < 5; round++) {
    states.groupEnded({ changes: 1, durationMs: 1, error: full });
    states.groupEnded({ changes: 1, durationMs: 1 });
  }
  const cause = "no space left on the device (SQLITE_FULL)";
  expect(logged).toEqual([{ event: "store not writable", reason: "full", cause }]);
  expect(states.isFailing).toBe(true);
});

test("a slow commit is logged once, while commits stay slow, and so is their end", () => {
  const clock = createTestClock();
  const logged: unknown[] = [];
  const states = createStoreStates({
    log: (event, details) => void logged.push({ event, ...details }),
    isShared: true,
    canWrite: () => true,
    monotonicMs: clock.elapsedMs,
  });
  for (const durationMs of [900, 1_500, 2_000, 3, 1_200]) {
    states.groupEnded({ changes: 7, durationMs });
  }
  expect(logged).toEqual([{ event: "commits slow", changes: 7, commitMs: 1_500 }]);
  clock.advance(5_000);
  states.groupEnded({ changes: 7, durationMs: 3 });
  expect(logged.slice(1)).toEqual([{ event: "commits fast again", failures: 3, durationMs: 0 }]);
});
