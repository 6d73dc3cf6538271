import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commonPeriods } from "../src/console/texts/times.ts";
import { dayMs } from "../src/domain/values/times.ts";
import { issueOperator } from "./support/admin/operators.ts";
import { connect, revisions } from "./support/assistants.ts";
import { createTestClock, testStart } from "./support/clock.ts";
import { jsonHere, runHere } from "./support/commands.ts";
import { openFeed } from "./support/feed.ts";
import { jumpBy, makeTimeMovable } from "./support/instances/movable-time.ts";
import { createdDatabase } from "./support/postgres-template.ts";
import { programHere } from "./support/program.ts";
import { expectError } from "./support/responses.ts";
import { startTestService } from "./support/service.ts";
import { importPets } from "./support/stocking.ts";
import { until } from "./support/until.ts";

// On PostgreSQL, the times of rows are those of the database. The clock of an instance may differ.

const hourMs = 3_600_000;

/** A service whose clock is ahead of that of its database. */
async function startAhead(ms: number, now = testStart) {
  const [clock, databaseClock] = [createTestClock(now + ms), createTestClock(now)];
  const extras = { clock, databaseClock, program: programHere() };
  const service = await startTestService("postgres", { mcp: "on" }, {}, extras);
  await service.addPets({ petId: 1n, quantity: 20 });
  const key = (await service.issueKey()).text;
  return { service, databaseClock, key };
}

test("a snapshot is past by the clock of the database, and not by that of the instance", async () => {
  for (const aheadMs of [-hourMs, hourMs]) {
    const { service, databaseClock, key } = await startAhead(aheadMs);
    databaseClock.advance(1_000);
    const statusAt = async (ms: number) => {
      const time = new Date(databaseClock.now() + ms).toISOString();
      return service.call("GET", `/snapshots/${time}`, { key });
    };
    expect((await statusAt(0)).status).toBe(200);
    expectError(await statusAt(1), "invalid_request");
    await service.stop();
  }
});

test("an undo finds the changes of a session, even if the clock of the instance is days ahead", async () => {
  const { service, key } = await startAhead(2 * dayMs, Date.now());
  const { use } = await connect(service, key, revisions[0]);
  const given = { reason: "sale", changes: [{ petId: 1, delta: -1 }] };
  const { session } = (await use("change_stock", given)).json;
  const undone = await use("undo_session", { session, dryRun: true });
  expect(undone.json).toMatchObject({ rows: 1, undone: 1 });
  await service.stop();
});

test("Overview counts the changes of the last minutes by the clock of the database", async () => {
  const { service } = await startAhead(hourMs);
  const operator = (await issueOperator(service)).text;
  const { json } = await service.call("GET", "~/admin/service", { key: operator });
  expect((json as { changesPerMinute: number[] }).changesPerMinute.at(-1)).toBe(1);
  await service.stop();
});

test("what was sold in the last 28 days is counted by the days of the database", async () => {
  const { service, databaseClock, key } = await startAhead(dayMs);
  const operator = (await issueOperator(service)).text;
  const body = JSON.stringify({ changes: [{ petId: 1, delta: -3 }] });
  expect((await service.call("POST", "/changes", { key, body })).status).toBe(200);
  databaseClock.advance(27 * dayMs);
  service.clock.advance(27 * dayMs);
  const { sales } = service.store;
  await until(async () => (await sales.readSalesSeq()) === 2, 10_000, "the sums");
  const { json } = await service.call("GET", "~/admin/sales", { key: operator });
  expect(json).toEqual({ days: 28, pets: [{ petId: 1, sold: 3 }] });
  await service.stop();
});

test("a stream of the feed ends when its key is banned, though the ban is over by the instance's clock", async () => {
  const { service, databaseClock } = await startAhead(hourMs);
  const limits = { perMinute: 2, perDay: 1_000 };
  const { text: key } = await service.issueKey({ plan: "enterprise", limits });
  const feed = await openFeed(service.baseUrl, { key });
  const ask = () => service.call("GET", "/inventory", { key });
  for (let sent = 0; sent < 2; sent++) await ask();
  databaseClock.advance(1_001);
  service.clock.advance(1_001);
  for (let strike = 0; strike < 20; strike++) await ask();
  expect(await feed.closed()).toBe("ended");
  await service.stop();
});

test("the periods of Activity that are not over have no end: the newest changes belong to them", () => {
  const now = new Date(2026, 10, 19, 10);
  const lasting = commonPeriods(now).filter(([, name]) => name !== "Yesterday");
  const starts = [new Date(2026, 10, 19), new Date(2026, 10, 16)];
  expect(lasting.map(([period]) => period.split(" "))).toEqual(
    starts.map((day) => [day.toISOString(), ""]),
  );
});

test("a backup reaches to a time of the database, and no moment after it can be restored", async () => {
  const database = await createdDatabase();
  await importPets(database, '{"petId":1,"name":"Pet"}');
  await makeTimeMovable(database);
  await jumpBy(database, "-1 hour");
  const folder = mkdtempSync(join(tmpdir(), "petstore-clocks-"));
  const file = join(folder, "one.petstore");
  const { at } = await jsonHere<{ at: string }>("backup", file, "--database", database);
  expect(Date.parse(at)).toBeLessThanOrEqual(Date.now() - hourMs);
  const restored = ["restore", file, "--database", `sqlite:${join(folder, "one.db")}`];
  const later = new Date(Date.now() - hourMs / 2).toISOString();
  const { code, err } = await runHere([...restored, `--until=${later}`]);
  expect(code).toBe(2);
  expect(err).toContain(`cannot reach ${later}`);
});

/** Files that know both the times of rows and the clock of the process, and what keeps them apart. */
const knowBoth: Record<string, string> = {
  "src/cli/backups/backup.ts": "the clock of the process tells when a record was made",
  "src/console/history/view.tsx": "the end of a chart, whichever is later",
  "src/domain/ledger/idempotency-keeping.ts":
    "the earlier of the two, so that no key goes too soon",
  "src/domain/usage/clock-watch.ts": "gaps between rows, to notice that a clock jumped",
  "src/http/admin/service.ts": "the last row is shown, and the clock tells which keys expire",
  "src/opening/engines.ts": "the last time that the clock watch knows",
};

test("whoever compares with the time of a row asks the store for its clock", () => {
  const files = [...new Bun.Glob("src/**/*.{ts,tsx}").scanSync()].sort();
  const both = files.filter((path) => {
    const text = readFileSync(path, "utf8");
    const isRead = /\b(?:readTip|seqAt)\(|\b(?:tip|rows?(?:\[0\]!?)?)\.at\b/.test(text);
    return isRead && /[cC]lock\.now\(|\bDate\.now\(/.test(text);
  });
  expect(both.filter((path) => !path.startsWith("src/store/"))).toEqual(Object.keys(knowBoth));
});
