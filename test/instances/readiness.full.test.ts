import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { isReady } from "../../src/compose/readiness.ts";
import { createCommitter } from "../../src/domain/commits/commits.ts";
import { createFollower } from "../../src/domain/inventory/follower.ts";
import { createInventoryList } from "../../src/http/list/list.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { oneAtATime } from "../support/committing.ts";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { startPair } from "../support/instances/pair.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { importPets } from "../support/stocking.ts";
import { setUnit } from "../support/units.ts";
import { until } from "../support/until.ts";

const readyMsMax = 10_000;

let server: PostgresServer;
let operator: SQL;
beforeAll(async () => {
  server = await startPostgres();
  operator = new SQL(server.url(), { max: 1 });
});
afterAll(async () => {
  await operator.close();
  await server.destroy();
});

/** A database with a separate role, whose connections an operator can limit. */
async function createShop(name: string) {
  await operator.unsafe(`CREATE ROLE ${name} LOGIN`);
  await operator.unsafe(`CREATE DATABASE ${name} OWNER ${name}`);
  return {
    url: server.url(name).replace("postgres@", `${name}@`),
    allowConnections: (max: number) =>
      operator.unsafe(`ALTER ROLE ${name} CONNECTION LIMIT ${max}`),
    /** Closes the connections whose last statement was like this. */
    endConnections: (statement: string) =>
      operator.unsafe(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE usename = '${name}' AND query LIKE '${statement}'`,
      ),
  };
}

const readiness = async (fleet: Fleet) => (await fleet.call(0, "GET", "~/readyz")).status;

const patch = (fleet: Fleet, key: string, quantity: number) =>
  fleet.call(0, "PATCH", "/inventory/1", { key, body: `{"quantity":${quantity}}` });

test("an instance has all its connections before it serves, and one whose connection for updates cannot be opened again is not ready until it can", async () => {
  const { url, allowConnections, endConnections } = await createShop("shop");
  const fleet = await startFleet(url, { size: 1, pets: [1] });
  try {
    const { key } = await fleet.issueKey(...boundless);
    await allowConnections(0);
    // The connection that is opened every second, to find a new primary, is not one of them.
    await fleet.instance(0).wrote("database primary cannot be checked");
    expect((await patch(fleet, key, 1)).status).toBe(200);
    expect(await readiness(fleet)).toBe(200);
    expect((await endConnections("COMMIT%")).length).toBe(1);
    await until(async () => (await readiness(fleet)) === 503, readyMsMax, "unreadiness");
    expect((await patch(fleet, key, 2)).status).toBe(503);
    await allowConnections(-1);
    await until(async () => (await readiness(fleet)) === 200, readyMsMax, "readiness");
    expect((await patch(fleet, key, 3)).status).toBe(200);
  } finally {
    await fleet.leave();
  }
});

test("an instance that gets too few connections at its start is not ready until it has all of them", async () => {
  const { url, allowConnections } = await createShop("crowded");
  await importPets(url, '{"petId":1,"name":"Rex"}');
  await allowConnections(3);
  const fleet = await startFleet(url, { size: 1 });
  try {
    expect(await readiness(fleet)).toBe(503);
    await allowConnections(-1);
    await until(async () => (await readiness(fleet)) === 200, readyMsMax, "readiness");
    const { key } = await fleet.issueKey(...boundless);
    expect((await patch(fleet, key, 1)).status).toBe(200);
  } finally {
    await fleet.leave();
  }
});

/** What decides about readiness, on a database that nobody watches in the background. */
async function openUnwatched(url: string) {
  const database = createDatabase(url);
  const store = await openPostgres({ database, environment: "production", patienceMs: 0 });
  const bounds = { groupMax: 10, queueMax: 10, timeoutMs: 9_000, grouping: oneAtATime };
  const { now } = performance;
  const committer = createCommitter(
    store.inventory,
    bounds,
    () => now(),
    () => {},
  );
  const list = createInventoryList(100, () => {});
  const follower = createFollower(store.inventory, list, () => {});
  const parts = { store, committer, follower };
  return { ...parts, ready: () => isReady({ connect: database.openConnections }, parts) };
}

test("an instance is not ready while only its reads have found the new primary", async () => {
  await using pair = await startPair({ synchronous: true, through: "proxy", size: 0 });
  const { proxy, standby, urls } = pair;
  const { ready, committer, store } = await openUnwatched(
    urls.primary.replace(`${pair.primary.port}`, `${proxy.port}`),
  );
  expect(await ready()).toBe(true);
  await standby.promote();
  proxy.redirect(standby.port);
  // The other connections stay open, and lead to the old primary.
  await withDatabase(
    urls.primary,
    (sql) =>
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE query LIKE '%keys_version%' AND pid <> pg_backend_pid()`,
  );
  await until(ready, readyMsMax, "readiness");
  // So an update needs no new connection.
  proxy.redirect(1);
  expect(await committer.submit(setUnit(1n, 2))).toMatchObject({ kind: "stored" });
  await store.close();
});
