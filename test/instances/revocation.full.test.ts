import { afterAll, beforeAll, expect, test } from "bun:test";
import { ownPage, signIn } from "../support/admin/operators.ts";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { migratedDatabase } from "../support/postgres-template.ts";
import { until } from "../support/until.ts";

/** How soon every instance knows of a change to keys or bans. */
const noticeMsMax = 1_000;

let databaseUrl: string;
let fleet: Fleet;
beforeAll(async () => {
  databaseUrl = await migratedDatabase();
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
