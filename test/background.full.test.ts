import { expect, test } from "bun:test";
import { openWorkspace } from "./support/process.ts";

test("a service that cannot save usage for ten seconds logs one line of JSON, and another when it can again", async () => {
  const place = openWorkspace();
  const { key } = await place.json<{ key: string }>(
    "keys",
    "create",
    "--name",
    "a",
    "--plan",
    "pro",
  );
  const service = await place.serve();
  const { Database } = await import("bun:sqlite");
  const holder = new Database(place.path("data/production.db"));
  holder.run("BEGIN IMMEDIATE");
  const list = () =>
    fetch(`${service.baseUrl}/inventory`, { headers: { Authorization: `Bearer ${key}` } });
  await list();
  await service.wrote('"task failed"');
  holder.run("ROLLBACK");
  holder.close();
  await service.wrote('"task succeeded again"');
  const lines = service
    .written()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const [started, ...rest] = lines.map((line) => JSON.parse(line));
  expect(started).toMatchObject({ level: "info", event: "started", engine: "SQLite" });
  const task = "saving usage and bans";
  expect(rest).toMatchObject([
    { level: "warn", event: "task failed", task, reason: "busy" },
    { level: "info", event: "task succeeded again", task },
  ]);
  expect(rest[0].cause).toBe("another process holds the write lock (SQLITE_BUSY)");
  await place.leave();
});
