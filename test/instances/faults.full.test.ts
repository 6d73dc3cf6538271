import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { entriesOf, withDatabase } from "../support/instances/recording.ts";
import { openSlowProxy } from "../support/instances/slow-network.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import type { TestResponse } from "../support/service.ts";
import { pass, slownessMax, until } from "../support/until.ts";

/** How long a request may wait for its response, and the service for its recovery. */
const responseMsMax = 5_000 * slownessMax;
const recoveryMsMax = 10_000;

let server: PostgresServer;
let databaseUrl: string;
let fleet: Fleet;
let known: { id: string; key: string };
let unused: { id: string; key: string };
/** Each test changes two pets that no other test changes. */
const pets = Array.from({ length: 20 }, (_, at) => at + 1);
let pet = -1;
let otherPet = 0;
beforeAll(async () => {
  server = await startPostgres();
  databaseUrl = await server.freshDatabase();
  const flags = ["--writes-waiting-max", "1000"];
  fleet = await startFleet(databaseUrl, { size: 1, pets, flags });
});
afterAll(async () => {
  await fleet.leave();
  await server.destroy();
});
beforeEach(async () => {
  pet += 2;
  otherPet += 2;
  // The day is the limit, so the end of a minute does not change the headers during a test. Below 8,000
  // no requests are counted in advance, so that a request that fails is not counted.
  const limits = ["--per-minute", "100000", "--per-day", "7000"];
  [known, unused] = await Promise.all([
    fleet.issueKey("--plan", "enterprise", ...limits),
    fleet.issueKey(...boundless),
  ]);
});

function patch(quantity: number, key = known.key): Promise<TestResponse> {
  return fleet.call(0, "PATCH", `/inventory/${pet}`, { key, body: `{"quantity":${quantity}}` });
}

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const started = performance.now();
  const result = await work;
  return [result, performance.now() - started];
}

async function expectUnavailable(pending: Promise<TestResponse>): Promise<TestResponse> {
  const [response, tookMs] = await timed(pending);
  expect(response.status).toBe(503);
  expect(response.json).toMatchObject({ code: "unavailable", status: 503 });
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(tookMs).toBeLessThan(responseMsMax);
  return response;
}

/** Many updates over two seconds, so that later ones find others waiting. */
async function askInACrowd() {
  const pending = Array.from({ length: 60 }, async (_, at) => {
    await pass(at * 33);
    const headers = { Authorization: `Bearer ${known.key}` };
    const body = `{"quantity":${at + 1_000}}`;
    const url = `${fleet.instance(0).baseUrl}/inventory/${pet}`;
    const [response, tookMs] = await timed(fetch(url, { method: "PATCH", headers, body }));
    return { status: response.status, tookMs };
  });
  const responses = await Promise.all(pending);
  return {
    statuses: new Set(responses.map(({ status }) => status)),
    slowestMs: Math.max(...responses.map(({ tookMs }) => tookMs)),
  };
}

/** How often the ledger contains each quantity that this test set. */
async function ledgerCounts(): Promise<Map<number, number>> {
  const rows = await withDatabase(
    databaseUrl,
    (sql) =>
      sql`SELECT quantity_after, count(*) FROM ledger
        WHERE cause = 'api' AND pet_id IN (${pet}, ${otherPet}) GROUP BY 1`.values() as Promise<
        bigint[][]
      >,
  );
  return new Map(rows.map(([quantity, count]) => [Number(quantity), Number(count)]));
}

const outages = [
  {
    name: "down",
    begin: () => server.kill(),
    end: () => server.start(),
  },
  {
    name: "silent",
    begin: async () => server.pause(),
    end: async () => server.resume(),
  },
];

/** What a client gets while the database does not respond. `before` is its last response. */
async function expectOutage(before: TestResponse): Promise<void> {
  const get = (path: string, key: string) => fleet.call(0, "GET", path, { key });
  const crowd = askInACrowd();
  const responses = await Promise.all([
    expectUnavailable(patch(2)),
    expectUnavailable(get("/inventory", known.key)),
    expectUnavailable(get("/pets/1", known.key)),
    expectUnavailable(get("/store/orders", known.key)),
  ]);
  // The headers contain the last known state; these requests are not counted.
  for (const { headers } of responses) {
    for (const field of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
      expect(headers.get(field)).toBe(before.headers.get(field));
    }
  }
  // A key that this instance has not seen yet may be valid.
  const unknown = await expectUnavailable(get("/inventory", unused.key));
  expect(unknown.headers.get("WWW-Authenticate")).toBeNull();
  expect((await get("/inventory", "no key at all")).status).toBe(401);
  const { statuses, slowestMs } = await crowd;
  expect(statuses).toEqual(new Set([503]));
  expect(slowestMs).toBeLessThan(responseMsMax);
  const [ready, readyMs] = await timed(fleet.call(0, "GET", "~/readyz"));
  expect(ready.status).toBe(503);
  expect(readyMs).toBeLessThan(responseMsMax);
  expect((await fleet.call(0, "GET", "~/healthz")).status).toBe(200);
}

for (const { name, begin, end } of outages) {
  test(`with the database ${name} every request, also many at once, gets 503 in time, and works again after its return`, async () => {
    expect((await patch(1)).status).toBe(200);
    const before = await fleet.call(0, "GET", "/inventory", { key: known.key });
    await begin();
    await expectOutage(before).finally(end);
    const isBack = async () =>
      (await patch(3)).status === 200 && (await fleet.call(0, "GET", "~/readyz")).status === 200;
    await until(isBack, recoveryMsMax, "recovery");
    const list = await fleet.call(0, "GET", "/inventory", { key: unused.key });
    expect(entriesOf(list.text).get(BigInt(pet))).toBe(3);
    for (const [quantity, count] of await ledgerCounts()) if (quantity !== 3) expect(count).toBe(1);
  });
}

test("a database that was restarted between requests makes no request fail", async () => {
  expect((await patch(1)).status).toBe(200);
  await server.restart();
  await until(
    async () => (await fleet.call(0, "GET", "~/readyz")).status === 200,
    recoveryMsMax,
    "readiness",
  );
  expect((await patch(2)).status).toBe(200);
  expect((await fleet.call(0, "GET", "/inventory", { key: known.key })).status).toBe(200);
});

test("updates that wait for a lock for seconds get 503 and are not stored, and few wait behind them", async () => {
  expect((await patch(1)).status).toBe(200);
  await using sql = new SQL(databaseUrl, { max: 1 });
  await sql.begin(async (locking) => {
    // A writer waits in the middle of its transaction, with its COMMIT already sent. The server gives up
    // the wait before the service gives up the connection.
    await locking`LOCK TABLE ledger IN SHARE MODE`;
    const first = patch(60);
    const isWaiting = async () =>
      (await locking`SELECT FROM pg_locks WHERE NOT granted`.values()).length > 0;
    await until(isWaiting, responseMsMax, "a writer that waits");
    // Either the batch fills the queue, or it finds updates there and does not fit.
    const changes = Array.from({ length: 1_000 }, (_, at) => ({
      petId: otherPet,
      quantity: 10_000 + at,
    }));
    const body = JSON.stringify({ changes });
    const batch = fleet.call(0, "POST", "/changes", { key: known.key, body });
    const crowd = [first, batch, ...Array.from({ length: 40 }, (_, at) => patch(at + 2))];
    const messages = (await Promise.all(crowd.map(expectUnavailable))).map(({ text }) => text);
    const refusedAtOnce = messages.filter((text) => text.includes("Too many updates"));
    expect(refusedAtOnce.length).toBeGreaterThan(0);
  });
  await until(async () => (await patch(100)).status === 200, recoveryMsMax, "recovery");
  const stored = new Map([
    [1, 1],
    [100, 1],
  ]);
  expect(await ledgerCounts()).toEqual(stored);
  expect(await fleet.place.runHere(["verify", "--database", databaseUrl])).toMatchObject({
    code: 0,
  });
});

test("an update that was stored but whose acknowledgement was lost gets 503 and is not stored again", async () => {
  let isCommitHeld = false;
  const isCommit = (response: Uint8Array) =>
    /(CALL|COMMIT)\0/.test(Buffer.from(response).toString("latin1"));
  const way = openSlowProxy(server.port, (response) =>
    isCommitHeld && isCommit(response) ? 60_000 : 0,
  );
  const far = await startFleet(databaseUrl, {
    size: 1,
    addressOf: () => databaseUrl.replace(`${server.port}`, `${way.port}`),
  });
  try {
    const farPatch = (quantity: number) =>
      far.call(0, "PATCH", `/inventory/${otherPet}`, {
        key: known.key,
        body: `{"quantity":${quantity}}`,
      });
    expect((await farPatch(1)).status).toBe(200);
    isCommitHeld = true;
    let lost = 1;
    let pending: Promise<TestResponse>;
    // An update that arrives late on a busy machine gets 503 and is not stored. Then the next one is lost.
    do {
      lost += 1;
      let isAnswered = false;
      pending = expectUnavailable(farPatch(lost)).finally(() => (isAnswered = true));
      const isOver = async () => isAnswered || (await ledgerCounts()).has(lost);
      await until(isOver, recoveryMsMax, "the update in the ledger");
    } while (!(await ledgerCounts()).has(lost));
    way.cut();
    isCommitHeld = false;
    expect((await pending).text).toContain("It is not known whether the update was stored.");
    const last = lost + 1;
    await until(async () => (await farPatch(last)).status === 200, recoveryMsMax, "recovery");
    expect(await ledgerCounts()).toEqual(new Map([1, lost, last].map((quantity) => [quantity, 1])));
  } finally {
    await far.leave();
    way.close();
  }
});
