import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { SQL } from "bun";
import { type PostgresServer, sharedPostgres, startPostgres } from "./support/postgres.ts";
import { startStandby } from "./support/postgres-standby.ts";
import { pass, until } from "./support/until.ts";

const started: PostgresServer[] = [];
afterAll(async () => {
  await Promise.all(started.map((server) => server.destroy()));
});

async function startOwn(): Promise<PostgresServer> {
  const server = await startPostgres();
  started.push(server);
  return server;
}

test("the shared server gives every caller a separate database, copied from a template", async () => {
  const server = await sharedPostgres();
  const template = await server.freshDatabase();
  {
    await using sql = new SQL(template, { max: 1 });
    await sql`CREATE TABLE pets (id int8 PRIMARY KEY)`;
    await sql`INSERT INTO pets VALUES (9223372036854775807)`;
  }
  const url = await server.freshDatabase(new URL(template).pathname.slice(1));
  await using sql = new SQL(url, { max: 1, bigint: true });
  expect(url).not.toBe(template);
  expect(await sql`SELECT id FROM pets`.values()).toEqual([[9223372036854775807n]]);
  expect(await sharedPostgres()).toBe(server);
});

test("committed rows are there after the server was killed and started again", async () => {
  const server = await startOwn();
  const url = await server.freshDatabase();
  await using sql = new SQL(url, { max: 1 });
  await sql`CREATE TABLE pets (id int8 PRIMARY KEY)`;
  await sql`INSERT INTO pets VALUES (1)`;
  const pid = server.pid;
  await server.kill();
  await server.start();
  expect(server.pid).not.toBe(pid);
  await using later = new SQL(url, { max: 1 });
  expect(await later`SELECT count(*)::int AS pets FROM pets`).toEqual([{ pets: 1 }] as never);
});

test("a destroyed server leaves no shared memory, also one that was killed before", async () => {
  /** The second column of each line. */
  const idsIn = (text: string) => text.split("\n").map((line) => line.trim().split(/ +/)[1]);
  const idOf = ({ folder }: PostgresServer) =>
    idsIn(readFileSync(`${folder}/data/postmaster.pid`, "utf8"))[6]!;
  const list = "/proc/sysvipc/shm";
  const exists = (id: string) =>
    idsIn(
      existsSync(list)
        ? readFileSync(list, "utf8")
        : Bun.spawnSync(["ipcs", "-m"]).stdout.toString(),
    ).includes(id);
  for (const isKilled of [false, true]) {
    const server = await startPostgres();
    const id = idOf(server);
    expect(exists(id)).toBe(true);
    if (isKilled) await server.kill();
    await server.destroy();
    // A child of the server that is still ending keeps the memory until it has ended.
    await until(() => !exists(id), 5_000, "no shared memory");
  }
});

test("a paused server does not respond until it is resumed", async () => {
  const server = await startOwn();
  await using sql = new SQL(server.url(), { max: 1 });
  await sql`SELECT 1`;
  server.pause();
  const answer = sql`SELECT 2 AS two`.then((rows) => rows[0].two);
  expect(await Promise.race([answer, pass(300).then(() => "silence")])).toBe("silence");
  server.resume();
  expect(await answer).toBe(2);
});

test("a synchronous standby holds every acknowledged commit when it is promoted", async () => {
  const primary = await startOwn();
  const before = new SQL(primary.url(), { max: 1 });
  await before`CREATE TABLE pets (id int8 PRIMARY KEY)`;
  const standby = await startStandby(primary, { synchronous: true });
  started.push(standby);
  for (let id = 1; id <= 50; id++) await before`INSERT INTO pets VALUES (${id})`;
  await primary.kill();
  await before.close({ timeout: 0 });
  await standby.promote();
  await using after = new SQL(standby.url(), { max: 1 });
  await after`INSERT INTO pets VALUES (51)`;
  expect(await after`SELECT count(*)::int AS pets FROM pets`).toEqual([{ pets: 51 }] as never);
});

test("the server and its data are removed when the process that started it is killed", async () => {
  const program = `
    const { startPostgres } = await import(${JSON.stringify(`${import.meta.dir}/support/postgres.ts`)});
    const server = await startPostgres();
    console.log(JSON.stringify({ pid: server.pid, folder: server.folder }));
    await new Promise(() => setInterval(() => {}, 1000));`;
  const run = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  const { value } = await run.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
  const { pid, folder } = JSON.parse(value!);
  expect(existsSync(folder)).toBe(true);
  run.kill("SIGKILL");
  await run.exited;
  await until(() => !existsSync(folder), 10_000, "the removal");
  expect(() => process.kill(pid, 0)).toThrow();
});
