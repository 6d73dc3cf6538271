import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { readConfig } from "../src/config.ts";
import { systemClock } from "../src/opening/engines.ts";
import { openOrCreateStore } from "../src/opening/stores.ts";
import { lockHead } from "../src/store/postgres/engine/head-lock.ts";
import { sampleOf, scrape } from "./support/metrics.ts";
import { type PostgresServer, startPostgres } from "./support/postgres.ts";
import { startTestService, type TestResponse, type TestService } from "./support/service.ts";
import { pass, until } from "./support/until.ts";

let server: PostgresServer;
let service: TestService;
let key: string;
beforeAll(async () => {
  server = await startPostgres();
  service = await startTestService(
    "postgres",
    { database: await server.freshDatabase() },
    { failuresQuietMs: 5_000 },
  );
  await service.addPets({ petId: 1n, quantity: 5 }, { petId: 2n });
  key = (await service.issueKey()).text;
});
afterAll(async () => {
  await service.stop();
  await server.destroy();
});

const list = () => service.call("GET", "/inventory", { key });
const update = (quantity: number) =>
  service.call("PATCH", "/inventory/1", { key, body: `{"quantity":${quantity}}` });

/** Sends requests until the status is 200 again. */
async function recovery(ask: () => Promise<TestResponse>): Promise<void> {
  await until(async () => (await ask()).status === 200, 10_000, "status 200");
}

/** First, because the failures of other tests would be counted with its own. */
test("the log tells in four lines that the database was stopped and started", async () => {
  const lines = () => service.logged.map((line) => JSON.parse(line));
  const wasLogged = (event: string) => lines().some((line) => line.event === event);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  expect(await list()).toMatchObject({ status: 200 });
  await server.stop();
  const first = await service.call("GET", "/inventory", { key, headers });
  for (let sent = 0; sent < 10; sent++) await Promise.all([list(), update(1)]);
  await until(() => wasLogged("store lost"), 10_000, "the loss");
  // The head is read four times a second, and only the first failure is logged.
  await pass(600);
  await server.start();
  await until(() => wasLogged("store back"), 10_000, "the return");
  await until(() => wasLogged("requests stopped failing"), 10_000, "the end of the failures");
  const story = lines().toSorted((one, other) => one.event.localeCompare(other.event));
  const reason = "unreachable";
  const cause = expect.stringMatching(
    /^connection refused|connection was closed|^terminating connection|is shutting down/,
  );
  const requestId = first.headers.get("X-Request-Id");
  const ended = { failures: expect.any(Number), durationMs: expect.any(Number) };
  expect(story).toEqual([
    { event: "requests failing", reason, cause, requestId, operation: "listInventory", traceId },
    { event: "requests stopped failing", reason, ...ended, failures: 21 },
    { event: "store back", ...ended },
    { event: "store lost", reason, cause },
  ]);
  expect(story[2].failures).toBeGreaterThan(1);
  await recovery(list);
});

test("a command reports in one line that the database cannot be reached", async () => {
  const config = readConfig({ database: "postgres://nobody@127.0.0.1:1/nothing" }, {});
  await expect(openOrCreateStore(config, systemClock)).rejects.toThrow(
    "cannot open the database at 127.0.0.1:1/nothing",
  );
});

test("a session that locks the ledger's head and stays idle loses it to the others", async () => {
  await using sql = new SQL(service.databaseUrl, { max: 1 });
  using silent = await sql.reserve();
  await silent`BEGIN`;
  await silent.unsafe(lockHead, [null]);
  const start = performance.now();
  await recovery(() => update(8));
  expect(performance.now() - start).toBeGreaterThan(500);
  await expect(silent`DELETE FROM ledger_end`.then(() => "written")).rejects.toThrow();
});

test("a database that rejects connections causes 503, and works again when it accepts them", async () => {
  const name = new URL(service.databaseUrl).pathname.slice(1);
  await using operator = new SQL(server.url(), { max: 1 });
  await operator.unsafe(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
  await operator`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`;
  const responses = await Promise.all([list(), update(1), service.call("GET", "~/readyz")]);
  // The service tries to connect again meanwhile, and must not succeed.
  await pass(150);
  responses.push(await list());
  await operator.unsafe(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`);
  expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  await recovery(list);
});

test("a database that is full, and one that is stopped, show in the metrics", async () => {
  const database = await server.freshDatabase();
  const flags = { database, "metrics-port": "0" };
  const watched = await startTestService("postgres", flags, { metricsReadEveryMs: 50 });
  await watched.addPets({ petId: 1n });
  const { text } = await watched.issueKey();
  const change = { key: text, body: '{"quantity":7}' };
  const changed = async () => (await watched.call("PATCH", "/inventory/1", change)).status;
  const sample = async (series: string) => sampleOf(await scrape(watched.metricsUrl), series);
  const untilUp = (up: number) =>
    until(async () => (await sample("petstore_database_up")) === up, 10_000, `up ${up}`);
  const open = 'petstore_database_connections{state="open"}';
  await untilUp(1);
  const sql = new SQL(database);
  await sql.unsafe(`CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER fill BEFORE INSERT ON ledger EXECUTE FUNCTION fill()`);
  expect(await changed()).toBe(503);
  expect(await sample('petstore_commit_failures_total{reason="full"}')).toBe(1);
  expect(await sample('petstore_refusals_total{code="unavailable",reason="full"}')).toBe(1);
  await sql.unsafe("DROP TRIGGER fill ON ledger");
  await sql.close();
  expect(await changed()).toBe(200);
  const openBefore = await sample(open);
  expect(openBefore).toBeGreaterThan(1);

  await server.stop();
  await untilUp(0);
  expect(await changed()).toBe(503);
  expect(await sample(open)).toBe(0);
  const unreachable = 'petstore_refusals_total{code="unavailable",reason="unreachable"}';
  expect(await sample(unreachable)).toBeGreaterThan(0);
  await server.start();
  await untilUp(1);
  await until(async () => (await sample(open)) === openBefore, 10_000, "the connections");
  await watched.stop();
});
