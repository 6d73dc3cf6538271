import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { readConfig } from "../../src/config.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { generateKeyId, scopes } from "../../src/domain/keys/keys.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { createDatabase, type Database } from "../../src/store/postgres/engine/database.ts";
import { createSharedUsage } from "../../src/store/postgres/usage.ts";
import { anEntry } from "../support/audit.ts";
import { startFleet } from "../support/instances/fleet.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { openConnected } from "../support/postgres-store.ts";
import { startTestService, type TestResponse, type TestService } from "../support/service.ts";
import { createStore } from "../support/stocking.ts";

/** Not the shared server, because the tests change settings of the whole server. */
let server: PostgresServer;
const databases: Database[] = [];
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  for (const database of databases) database.close();
  await server.destroy();
});

function connectTo(url: string): Database {
  const database = createDatabase(url);
  databases.push(database);
  return database;
}

/** Sets a default of a database, as an operator does for the server, the database or the role. */
async function setDefault(url: string, name: string, value: string): Promise<void> {
  await using sql = new SQL(server.url(), { max: 1 });
  await sql.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${name} = '${value}'`);
}

async function issueKeys(url: string, count: number): Promise<string[]> {
  const store = await openOrCreateStore(readConfig({ database: url }, {}), systemClock);
  const ids = Array.from({ length: count }, generateKeyId);
  const terms = { plan: "free", limits: { perMinute: 1, perDay: 1 }, scopes } as const;
  const times = { createdAt: 0, expiresAt: null, revokedAt: null };
  for (const id of ids)
    await store.keys.addKey({ id, name: "test", ...terms, ...times }, digestOf(id), anEntry);
  await store.close();
  return ids;
}

const limits = { perMinute: 900_000_000, perDay: 900_000_000 };

describe.each(["repeatable read", "serializable"])("where the default is %s", (isolation) => {
  test("instances that start together on an empty database all start", async () => {
    const url = await server.freshDatabase();
    await setDefault(url, "default_transaction_isolation", isolation);
    const stores = await Promise.all(
      Array.from({ length: 4 }, () =>
        openConnected({ database: connectTo(url), environment: "production" }),
      ),
    );
    expect(
      new Set(await Promise.all(stores.map(async (one) => (await one.inventory.readHead()).epoch)))
        .size,
    ).toBe(1);
    await Promise.all(stores.map((store) => store.close()));
  });
});

type Call = (
  instance: number,
  ...request: Parameters<TestService["call"]>
) => Promise<TestResponse>;

/** Sends requests with one key to three instances at once, and expects each to be served and counted. */
async function expectEachCounted(url: string, key: string, turns: number, call: Call) {
  const body = '{"quantity":1}';
  const statuses = new Map<number, number>();
  const clients = Array.from({ length: 12 }, async (_, client) => {
    for (let turn = 0; turn < turns; turn++) {
      const { status } =
        turn % 2 === 0
          ? await call(client % 3, "GET", "/inventory", { key })
          : await call(client % 3, "PATCH", "/inventory/1", { key, body });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  await Promise.all(clients);
  expect([...statuses]).toEqual([[200, 12 * turns]]);
  await using sql = new SQL(url, { max: 1 });
  const [counted] = await sql`SELECT day_count::int4 AS taken FROM counts`;
  expect(counted).toEqual({ taken: 12 * turns });
}

// In processes, so that instances send statements at the same moment.
test("three instances under parallel load serve every request and count each once, where the default is serializable", async () => {
  const url = await server.freshDatabase();
  await setDefault(url, "default_transaction_isolation", "serializable");
  const fleet = await startFleet(url, { pets: [1, 2] });
  try {
    // Below the limits from which requests are counted in advance.
    const limits = ["--per-minute", "7000", "--per-day", "7000"];
    const { key } = await fleet.issueKey("--plan", "enterprise", ...limits);
    await expectEachCounted(url, key, 10, fleet.call);
  } finally {
    await fleet.leave();
  }
});

test("limiters that count the same keys in different orders never deadlock", async () => {
  const url = await server.freshDatabase();
  const keys = await issueKeys(url, 100);
  // On sessions, because a reconnecting connection retries a statement after a deadlock.
  const sessions = await Promise.all([1, 2].map(() => connectTo(url).connect()));
  const load = sessions.map(async (session, index) => {
    const usage = createSharedUsage(session.query);
    const order = index === 0 ? keys : keys.toReversed();
    for (let round = 0; round < 12; round++) {
      await usage.take(order.map((keyId) => ({ keyId, limits, wanted: 1 })));
      await usage.addStrikes(order.map((keyId) => ({ keyId, minute: 0, count: 1 })));
    }
  });
  await Promise.all(load).finally(() => {
    for (const session of sessions) session.close();
  });
  await using sql = new SQL(url, { max: 1 });
  const counted = await sql`SELECT DISTINCT day_count::int4 AS taken, strikes::int4
    FROM counts JOIN standings USING (key_id)`;
  expect([...counted]).toEqual([{ taken: 24, strikes: 24 }]);
});

test("a statement that conflicted with another transaction is sent again", async () => {
  const url = await server.freshDatabase();
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(`CREATE SEQUENCE attempts; CREATE FUNCTION collide(state text, times int8)
    RETURNS int8 LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('attempts') <= times THEN RAISE EXCEPTION 'collided' USING ERRCODE = state; END IF;
      RETURN currval('attempts');
    END $$`);
  const { query } = connectTo(url).connection(2_000);
  for (const state of ["40001", "40P01"]) {
    await sql`SELECT setval('attempts', 1, false)`;
    expect(await query("SELECT collide($1::text, 2)", [state])).toEqual([[3n]]);
    // At most four times in total.
    await sql`SELECT setval('attempts', 1, false)`;
    await expect(query("SELECT collide($1::text, 999)", [state])).rejects.toThrow("busy");
  }
});

describe("a crash may lose counts, and nothing else:", () => {
  test("the limiter's commits do not wait for the disk, and later ones on its connection do", async () => {
    const url = await server.freshDatabase();
    const [keyId] = (await issueKeys(url, 1)) as [string];
    const session = await connectTo(url).connect();
    const setting = async () => (await session.query("SHOW synchronous_commit"))[0]![0];
    const usage = createSharedUsage(session.query);
    const calls = [
      () => usage.take([{ keyId, limits, wanted: 1 }]),
      () => usage.addStrikes([{ keyId, minute: 0, count: 1 }]),
    ];
    for (const call of calls) {
      await call();
      expect(await setting()).toBe("on");
      // In a transaction the setting stays until the end, so it can be read.
      await session.query("BEGIN");
      await call();
      expect(await setting()).toBe("off");
      await session.query("COMMIT");
      expect(await setting()).toBe("on");
    }
    session.close();
  });

  test.each([
    ["off", "on"],
    ["local", "local"],
  ])(
    "with synchronous_commit %s on the server, ledger and keys are committed with %s",
    async (set, used) => {
      const url = await server.freshDatabase();
      await createStore(url);
      await setDefault(url, "synchronous_commit", set);
      // Records the setting that is in force when a transaction commits.
      await using sql = new SQL(url, { max: 1 });
      await sql.unsafe(`CREATE TABLE seen (what text, setting text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO seen VALUES (TG_TABLE_NAME, current_setting('synchronous_commit'));
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER noted AFTER INSERT ON ledger
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
      CREATE CONSTRAINT TRIGGER noted AFTER INSERT ON orders
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
      CREATE CONSTRAINT TRIGGER noted AFTER INSERT OR UPDATE ON keys
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()`);
      const running = await startTestService("postgres", { database: url });
      try {
        await running.addPets({ petId: 1n });
        const order = { line: 1, id: 1n, petId: 1n, quantity: 1, shipDate: null, complete: false };
        await running.addOrders({ ...order, status: "placed" });
        const { id, text: key } = await running.issueKey();
        const body = '{"quantity":2}';
        expect((await running.call("PATCH", "/inventory/1", { key, body })).status).toBe(200);
        await running.store.keys.revokeKey(id, 1, anEntry);
        const seen = await sql`SELECT what, setting FROM seen ORDER BY what, setting`.values();
        expect([...seen]).toEqual([
          ["keys", used],
          ["keys", used],
          ["ledger", used],
          ["ledger", used],
          ["orders", used],
        ]);
      } finally {
        await running.stop();
      }
    },
  );
});
