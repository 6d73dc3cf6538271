import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { ServiceError } from "../../src/domain/running/errors.ts";
import { createDatabase, type Database } from "../../src/store/postgres/engine/database.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { startTestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import { keepBusy, pass, until } from "../support/until.ts";

let server: PostgresServer;
let database: Database | undefined;
beforeAll(async () => {
  server = await startPostgres();
});
afterEach(() => database?.close());
afterAll(() => server.destroy());

async function databaseWith(setting: string, value: string): Promise<string> {
  const url = await server.freshDatabase();
  await using sql = new SQL(server.url(), { max: 1 });
  await sql.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${setting} = '${value}'`);
  return url;
}

/** On a busy machine a connection takes longer than a call waits for it. */
const isConnected = () => until(() => database!.openConnections(), 10_000, "the connection");

test("a session that the server ended for idleness fails one call, and the next call opens another", async () => {
  database = createDatabase(await databaseWith("idle_session_timeout", "500ms"));
  const { query } = database.connection(2_000);
  expect(await query("SELECT 1")).toEqual([[1]]);
  // The process is busy, so it learns of the end only with the next statement.
  keepBusy(1_500);
  const error: unknown = await query("SELECT 2").catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: "unavailable" });
  expect(await query("SELECT 3")).toEqual([[3]]);
});

test("an update whose transaction lasts longer than the server allows gets 503, and the next one 200", async () => {
  const url = await databaseWith("transaction_timeout", "2s");
  const service = await startTestService("postgres", { database: url });
  try {
    await service.addPets({ petId: 1n, quantity: 5 });
    const { text: key } = await service.issueKey();
    const update = (quantity: number) =>
      service.call("PATCH", "/inventory/1", { key, body: `{"quantity":${quantity}}` });
    await using sql = new SQL(server.url(new URL(url).pathname.slice(1)), { max: 1 });
    await sql`SET transaction_timeout = 0`;
    let waited: Awaited<ReturnType<typeof update>> | undefined;
    await sql.begin(async (locking) => {
      await locking`LOCK TABLE ledger IN SHARE MODE`;
      waited = await update(6);
    });
    expect(waited).toMatchObject({ status: 503, json: { code: "unavailable" } });
    const list = await service.call("GET", "/inventory", { key });
    expect(list.text).toContain('"quantity":5');
    expect((await update(7)).status).toBe(200);
    expect(service.logged.filter((line) => line.includes("bug"))).toEqual([]);
  } finally {
    await service.stop();
  }
});

test.each([
  ...["08006", "57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04", "25006"],
  ...["0A000", "26000", "42P05", "53100", "53200", "53300", "55P03", "57014", "58030"],
])("a failure with state %s is 503, not a bug", async (state) => {
  database = createDatabase(await server.freshDatabase());
  const { query } = database.connection(2_000);
  await isConnected();
  const error: unknown = await query(
    `DO $$ BEGIN RAISE EXCEPTION 'made' USING ERRCODE = '${state}'; END $$`,
  ).catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: "unavailable" });
  await isConnected();
  expect(await query("SELECT 1")).toEqual([[1]]);
});

test("a cancelled group is unavailable, also if the failures of later statements are read with the first one", async () => {
  const service = await startTestService("postgres", { database: await server.freshDatabase() });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => service.stop());
  await service.addPets({ petId: 1n, quantity: 5 });
  const digest = "0".repeat(32);
  const unit = { ...setUnit(1n, 6), idempotency: { key: digest, request: digest, keptMs: 60_000 } };
  // The last time, the statements are prepared, and sent together.
  for (let time = 0; time < 3; time++) await service.store.inventory.commit([unit]);
  const sql = stack.use(new SQL(service.databaseUrl, { max: 2 }));
  await sql.begin(async (locking) => {
    await locking`LOCK TABLE epochs IN ACCESS EXCLUSIVE MODE`;
    const failed = service.store.inventory.commit([unit]).catch((error: unknown) => error);
    const waiting = sql`FROM pg_locks WHERE relation = 'epochs'::regclass AND NOT granted`;
    const isWaiting = async () => (await sql`SELECT pid ${waiting}`).length > 0;
    await until(isWaiting, 10_000, "the group does not wait");
    const cancelling = sql`SELECT pg_sleep(0.3), pg_cancel_backend(pid) ${waiting}`.execute();
    // The statement is sent meanwhile. It cancels the group later, in the busy time.
    await pass(50);
    // The process is busy until all statements of the group have failed.
    keepBusy(1_000);
    await cancelling;
    expect(await failed).toMatchObject({ code: "unavailable" });
  });
});

test("a pooler that does not keep prepared statements is logged once, with the remedy", async () => {
  const logged: unknown[] = [];
  database = createDatabase(await server.freshDatabase(), (event, details) => {
    logged.push([event, details]);
  });
  const { query } = database.connection(2_000);
  await isConnected();
  await query("PREPARE kept AS SELECT 1");
  for (let time = 0; time < 2; time++) {
    // Behind such a pooler the statement was prepared on another connection.
    await query("DEALLOCATE ALL");
    await expect(query("EXECUTE kept")).rejects.toThrow("Try again.");
  }
  expect(logged).toEqual([
    [
      "database keeps no prepared statements",
      { error: expect.stringContaining("add prepare=false to the address") },
    ],
  ]);
});
