import { afterAll, beforeAll, expect, test } from "bun:test";
import { ownPage, signIn } from "../support/admin/operators.ts";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { makeTimeMovable, startNext } from "../support/instances/movable-time.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { pass, until } from "../support/until.ts";

/** How soon every instance knows of a change to keys or bans. */
const noticeMsMax = 1_000;

let databaseUrl: string;
let fleet: Fleet;
beforeAll(async () => {
  databaseUrl = await createdDatabase();
  await makeTimeMovable(databaseUrl);
  fleet = await startFleet(databaseUrl);
});
afterAll(() => fleet.leave());

const everybody = [0, 1, 2];

/** The response of an instance to a request with this key: a status, or an error code. */
async function responseOf(index: number, key: string): Promise<string | number> {
  const { status, json } = await fleet.call(index, "GET", "/inventory", { key });
  return (json as { code?: string }).code ?? status;
}

const responses = (key: string) => Promise.all(everybody.map((index) => responseOf(index, key)));

/** Expects every instance to respond so within that time after a command has ended. */
function becomes(key: string, expected: string | number): Promise<number[]> {
  return Promise.all(
    everybody.map((index) => {
      const isSo = async () => (await responseOf(index, key)) === expected;
      return until(isSo, noticeMsMax, `instance ${index} responses ${expected}`);
    }),
  );
}

async function command(...words: string[]): Promise<void> {
  const ran = await fleet.place.runHere([...words, "--database", databaseUrl]);
  expect(ran).toMatchObject({ code: 0, err: "" });
}

/** Closes every connection of the instances, so that none could be notified. */
async function cutConnections(): Promise<number> {
  const cut = await withDatabase(
    databaseUrl,
    (sql) =>
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  return cut.length;
}

test("a revoked key is soon refused by every instance, and a new one works at once", async () => {
  const { id, key } = await fleet.issueKey(...boundless);
  expect(await responses(key)).toEqual([200, 200, 200]);
  await command("keys", "revoke", id);
  await becomes(key, "unauthorized");
});

test("a revoked key is soon refused by every instance, even if all connections are lost meanwhile", async () => {
  const { id, key } = await fleet.issueKey(...boundless);
  expect(await responses(key)).toEqual([200, 200, 200]);
  expect(await cutConnections()).toBeGreaterThanOrEqual(everybody.length);
  await command("keys", "revoke", id);
  await cutConnections();
  await becomes(key, "unauthorized");
  // A count needs a connection too. The next test begins when every instance has one again.
  const { key: other } = await fleet.issueKey(...boundless);
  const areBack = async () => (await responses(other)).every((one) => one === 200);
  await until(areBack, 10_000, "every instance counts again");
});

test("a session has the new role of its key on every instance soon", async () => {
  const words = ["keys", "create", "--operator", "--json", "--database", databaseUrl];
  const create = async (...further: string[]) => {
    const ran = await fleet.place.runHere([...words, ...further]);
    return JSON.parse(ran.out) as { id: string; key: string; role: string };
  };
  const owner = await create("--name", "ada");
  const other = await create("--name", "grace", "--role", "clerk");
  expect([owner.role, other.role]).toEqual(["owner", "clerk"]);
  const cookie = await signIn({ call: (...rest) => fleet.call(1, ...rest) }, other.key);
  const save = async (index: number) => {
    const body = '{"quantity":1}';
    const options = { headers: ownPage(cookie), body };
    return (await fleet.call(index, "PATCH", "~/admin/stock/404", options)).status;
  };
  // There is no such pet, which the service says only to those who may change it.
  expect(await Promise.all(everybody.map(save))).toEqual([404, 404, 404]);
  const change = { key: owner.key, body: '{"role":"viewer"}' };
  await fleet.call(0, "PATCH", `~/admin/keys/${other.id}`, change);
  await Promise.all(
    everybody.map((index) =>
      until(async () => (await save(index)) === 403, noticeMsMax, `instance ${index} refuses`),
    ),
  );
});

test("a rotated key's new secret works on every instance at once; old secrets and expired keys stop working in time", async () => {
  const { id, key } = await fleet.issueKey(...boundless);
  expect(await responses(key)).toEqual([200, 200, 200]);
  const ends = Date.now() + 10_000;
  const words = ["--database", databaseUrl];
  const [rotated, expiring] = await Promise.all([
    fleet.place.json<{ key: string; oldValidUntil: string }>(
      ...["keys", "rotate", id, "--overlap", "10s", ...words],
    ),
    fleet.issueKey(...boundless, "--expires", new Date(ends).toISOString()),
  ]);
  for (const text of [key, rotated.key, expiring.key]) {
    expect(await responses(text)).toEqual([200, 200, 200]);
  }
  const bothEnd = Math.max(ends, Date.parse(rotated.oldValidUntil));
  await until(() => Date.now() >= bothEnd, 10_000, "the end of both keys");
  await Promise.all([becomes(key, "unauthorized"), becomes(expiring.key, "unauthorized")]);
  expect(await responses(rotated.key)).toEqual([200, 200, 200]);
});

/** Sends one request after another. Returns how long after the first 429 the ban came. */
async function msUntilBan(key: string, instances: number): Promise<number> {
  let turn = 0;
  let firstRefusedAt: number | undefined;
  let lastedMs = 0;
  const isBanned = async () => {
    const response = await responseOf(turn++ % instances, key);
    if (response === 200) return false;
    firstRefusedAt ??= performance.now();
    lastedMs = performance.now() - firstRefusedAt;
    return response === "key_banned";
  };
  await until(isBanned, 10_000, "the ban");
  return lastedMs;
}

test("strikes on one instance or on three are a ban soon after the grace period, and a lifted ban is soon over on all", async () => {
  const limits = ["--plan", "enterprise", "--per-minute", "6", "--per-day", "1000"];
  const [{ id, key }, other] = await Promise.all([
    fleet.issueKey(...limits),
    fleet.issueKey(...limits),
  ]);
  await startNext(databaseUrl, "minute");
  // By then the instances know the new keys, and nothing else makes them query the database.
  await pass(1_000);
  const waits = await Promise.all([msUntilBan(other.key, 1), msUntilBan(key, everybody.length)]);
  for (const waitMs of waits) expect(waitMs).toBeGreaterThan(1_000);
  await becomes(key, "key_banned");
  const shown = await fleet.place.json("keys", "show", id, "--database", databaseUrl);
  expect(shown.bannedUntil).not.toBeNull();
  await startNext(databaseUrl, "minute");
  // A change to another key makes the instances read bans again; it lifts none.
  await fleet.issueKey(...boundless);
  const noticedAt = performance.now() + noticeMsMax;
  while (performance.now() < noticedAt) {
    expect(await responses(key)).toEqual(["key_banned", "key_banned", "key_banned"]);
    await pass(50);
  }
  await command("keys", "unban", id);
  await becomes(key, 200);
});

test("an instance that has just started notices a key that is revoked in its first moments", async () => {
  const { id, key } = await fleet.issueKey(...boundless);
  await fleet.kill(0);
  await fleet.start(0);
  expect((await fleet.call(0, "GET", "/inventory", { key })).status).toBe(200);
  // Directly, so that it comes before the instance has first checked for changes.
  await withDatabase(databaseUrl, async (sql) => {
    await sql`UPDATE keys SET revoked_at = 1 WHERE id = ${id}`;
    await sql`UPDATE store SET keys_version = keys_version + 1`;
  });
  await becomes(key, "unauthorized");
});
