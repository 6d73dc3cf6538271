import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import {
  type CommitConnection,
  findCommitConnections,
  isConnected,
} from "../support/instances/commit-connections.ts";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { entriesOf } from "../support/instances/recording.ts";
import { openSlowProxy, type SlowProxy } from "../support/instances/slow-network.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";

/**
 * Updates whose clients got an answer before the database got to them. None of them may be stored over
 * an update that was acknowledged later.
 */

const patienceMs = 30_000;
const unknown = "It is not known whether the update was stored.";

let server: PostgresServer;
let databaseUrl: string;
let proxies: SlowProxy[];
let fleet: Fleet;
let key: string;
/** Each test has its own pet. */
const pets = Array.from({ length: 20 }, (_, at) => at + 1);
let pet = 0;
let keysUsed = 0;

beforeAll(async () => {
  server = await startPostgres();
  databaseUrl = await server.freshDatabase();
  proxies = [0, 1].map(() => openSlowProxy(server.port, () => 0));
  const addressOf = (index: number) =>
    databaseUrl.replace(`${server.port}`, `${proxies[index]!.port}`);
  fleet = await startFleet(databaseUrl, { size: 2, pets, addressOf });
  ({ key } = await fleet.issueKey(...boundless));
});
afterAll(async () => {
  await fleet.leave();
  for (const proxy of proxies) proxy.close();
  await server.destroy();
});
beforeEach(() => {
  pet += 1;
});

/** Whether the update that is late has an idempotency key, with which it is committed in another way. */
const kinds = [{ isKeyed: false }, { isKeyed: true }];

function patch(index: number, quantity: number, { isKeyed } = kinds[0]!) {
  const headers: Record<string, string> = isKeyed
    ? { "Idempotency-Key": `"key ${++keysUsed}"` }
    : {};
  const body = `{"quantity":${quantity}}`;
  return fleet.call(index, "PATCH", `/inventory/${pet}`, { key, body, headers });
}

/** Sends an update until it is acknowledged. */
const acknowledged = (index: number, quantity: number) =>
  until(
    async () => (await patch(index, quantity)).status === 200,
    patienceMs,
    `an acknowledged update to ${quantity}`,
  );

async function quantity(index = 0): Promise<number | undefined> {
  const { text } = await fleet.call(index, "GET", "/inventory", { key });
  return entriesOf(text).get(BigInt(pet));
}

/** Lets an instance commit until it does so in one round trip. Returns the connection that it uses. */
async function useOneRoundTrip(index: number, kind = kinds[0]!): Promise<CommitConnection> {
  let found: CommitConnection | undefined;
  let last = 0;
  const isFound = async () => {
    await patch(index, ++last, kind);
    const ports = proxies[index]!.serverPorts();
    const connections = await findCommitConnections(databaseUrl);
    found = connections.find(({ port }) => ports.includes(port));
    return found !== undefined;
  };
  await until(isFound, patienceMs, "a commit in one round trip");
  return found!;
}

const ended = (connection: CommitConnection) =>
  until(async () => !(await isConnected(databaseUrl, connection)), patienceMs, "the end");

describe.each(kinds)("%p", (kind) => {
  test("an update that the network delivers after its 503 is not stored", async () => {
    const connection = await useOneRoundTrip(0, kind);
    const held = proxies[0]!.hold([connection.port]);
    expect((await patch(0, 666, kind)).status).toBe(503);
    await acknowledged(0, 778);
    held.release();
    await ended(connection);
    expect(await quantity()).toBe(778);
  });

  test("an update on a connection that was cut is not stored over a later one of another instance", async () => {
    const connection = await useOneRoundTrip(0, kind);
    const held = proxies[0]!.hold([connection.port]);
    const pending = patch(0, 666, kind);
    await until(() => held.keptBytes() > 0, patienceMs, "the update on its way");
    held.cut();
    expect((await pending).status).toBe(503);
    await acknowledged(1, 778);
    held.release();
    await ended(connection);
    expect(await quantity()).toBe(778);
    expect(await quantity(1)).toBe(778);
  });

  test("an update whose server process was stopped and goes on after the 503 is not stored", async () => {
    const connection = await useOneRoundTrip(0, kind);
    process.kill(connection.pid, "SIGSTOP");
    try {
      expect((await patch(0, 666, kind)).status).toBe(503);
      await acknowledged(0, 778);
      await acknowledged(1, 779);
    } finally {
      process.kill(connection.pid, "SIGCONT");
    }
    await ended(connection);
    expect(await quantity()).toBe(779);
  });
});

test("an update whose server process was stopped with the head locked is stored before all later ones", async () => {
  const connection = await useOneRoundTrip(0);
  await using sql = new SQL(databaseUrl, { max: 1 });
  // The process has the head and waits in the middle of its transaction.
  const { pending } = await sql.begin(async (locking) => {
    await locking`LOCK TABLE ledger IN SHARE MODE`;
    const sent = patch(0, 666);
    const isWaiting = async () =>
      (await locking`SELECT FROM pg_locks WHERE NOT granted AND pid = ${connection.pid}`.values())
        .length > 0;
    await until(isWaiting, patienceMs, "the update");
    process.kill(connection.pid, "SIGSTOP");
    return { pending: sent };
  });
  const { text, headers } = await pending;
  const requestId = headers.get("x-request-id")!;
  const outcome = async (index: number) =>
    (await fleet.call(index, "GET", `/requests/${requestId}`, { key })).json as { outcome: string };
  try {
    expect(text).toContain(unknown);
    // Nobody may say yet that it is not stored.
    for (const index of [0, 1]) expect((await outcome(index)).outcome).toBe("unknown");
    // Nothing else is stored meanwhile, and those who wait for it learn that.
    const refused = await patch(1, 777);
    expect(refused.status).toBe(503);
    expect(refused.text).not.toContain(unknown);
  } finally {
    process.kill(connection.pid, "SIGCONT");
  }
  await acknowledged(1, 778);
  await ended(connection);
  expect(await quantity()).toBe(778);
  const rows: [number][] = await sql`SELECT quantity_after::int4 FROM ledger
    WHERE pet_id = ${pet} AND quantity_after > 100 ORDER BY seq`.values();
  const stored = [...new Set(rows.map(([one]) => one))];
  expect([[778], [666, 778]]).toContainEqual(stored);
  for (const index of [0, 1]) {
    const isKnown = async () => (await outcome(index)).outcome !== "unknown";
    await until(isKnown, patienceMs, "the outcome");
    expect((await outcome(index)).outcome).toBe(stored.includes(666) ? "stored" : "failed");
  }
});

test("updates that wait for the head longer than their clients get 503, are not stored, and the message does not doubt it", async () => {
  await useOneRoundTrip(0);
  await using sql = new SQL(databaseUrl, { max: 1 });
  await sql.begin(async (locking) => {
    await locking`SELECT FROM store FOR UPDATE`;
    const sent = kinds.map((kind, at) => patch(0, 600 + at, kind));
    for (const { status, text } of await Promise.all(sent)) {
      expect(status).toBe(503);
      expect(text).not.toContain(unknown);
    }
  });
  await acknowledged(0, 778);
  const stored = await sql`SELECT FROM ledger
    WHERE pet_id = ${pet} AND quantity_after IN (600, 601)`.values();
  expect(stored).toHaveLength(0);
});
