import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { checkStore } from "../../src/cli/doctor/doctor.ts";
import { readConfig } from "../../src/config.ts";
import { inspectStore } from "../../src/opening/stores.ts";
import { examineStore, findingsOf, makeHealthy, patientBounds } from "../support/doctor.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";

/** A server with the settings of a production server, apart from the number of connections. */
let server: PostgresServer;
let database: string;
beforeAll(async () => {
  server = await startPostgres({ fsync: true, settings: { max_connections: "20" } });
  database = await server.freshDatabase();
  await makeHealthy(database);
});
afterAll(() => server.destroy());

async function run(text: string, url = database): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(text);
}

const problems = async (url: string, flags = {}) =>
  (await examineStore(url, flags))
    .filter(({ result }) => result !== "ok")
    .map(({ name, result, found }) => `${result} ${name}: ${found}`);

test("a healthy store is ok in every check", async () => {
  const findings = await examineStore(database, { "backup-every": "1h" });
  expect(findings.filter(({ result }) => result !== "ok")).toEqual([]);
  const names = ["configuration", "store", "schema", "environment", "writable", "clock", "backup"];
  const others = ["drill", "keys", "secrets", "bans", "webhooks", "descriptors", "port", "fsync"];
  expect(findings.map(({ name }) => name)).toEqual(expect.arrayContaining([...names, ...others]));
});

test("few free connections are a warning", async () => {
  await using pool = new SQL(database, { max: 10 });
  await Promise.all(Array.from({ length: 10 }, () => pool`SELECT pg_sleep(0.05)`));
  const [finding] = findingsOf(await examineStore(database), "connections");
  expect(finding).toMatchObject({ result: "warning" });
  expect(finding!.advice).toContain("max_connections");
});

test("missing rights and a read-only database are named", async () => {
  await run(`CREATE ROLE clerk LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO clerk`);
  const guest = database.replace("postgres@", "clerk@");
  const [missing] = await problems(guest);
  expect(missing).toMatch(/^problem writable: the role clerk needs .*INSERT on ledger/);
  await run("ALTER ROLE clerk SET default_transaction_read_only = on");
  expect(await problems(guest)).toEqual([
    expect.stringMatching(/^problem store: .*default_transaction_read_only is on/),
  ]);
});

test("a server without fsync is a problem", async () => {
  await run("ALTER SYSTEM SET fsync = off");
  await run("SELECT pg_reload_conf()");
  const fsync = async () => findingsOf(await examineStore(database), "fsync")[0]!;
  // The server reads its settings again within milliseconds.
  await until(async () => (await fsync()).result !== "ok", 10_000, "fsync is off");
  expect(await fsync()).toEqual({
    name: "fsync",
    result: "problem",
    found: "fsync is off",
    advice: "Set fsync to on: a power failure can destroy the whole database.",
  });
});

test("a server that stops responding is one problem, and the checks end", async () => {
  const config = readConfig({ database }, {});
  const inspection = await inspectStore(config, 500);
  server.pause();
  try {
    const findings = await checkStore(inspection, config, patientBounds);
    expect(findings.at(-1)).toMatchObject({
      name: "store",
      result: "problem",
      found: "the database stopped responding",
    });
    expect(findings.filter(({ result }) => result === "problem").length).toBeLessThan(3);
  } finally {
    server.resume();
    inspection.close();
  }
});

test("a server that is stopped, or that accepts connections and says nothing, is a problem", async () => {
  await server.stop();
  expect(await problems(database)).toEqual([
    expect.stringMatching(/^problem store: 127\.0\.0\.1:\d+\/\w+: /),
  ]);
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const found = await problems(`postgres://shop:s3cret@127.0.0.1:${silent.port}/shop`);
  expect(found).toEqual([expect.stringMatching(/^problem store: 127\.0\.0\.1:\d+\/shop: /)]);
  expect(found.join()).not.toContain("s3cret");
  silent.stop(true);
  await server.start();
});
