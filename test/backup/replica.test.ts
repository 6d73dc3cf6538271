import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { issueOperator } from "../support/admin/operators.ts";
import { until } from "../support/instances/fleet.ts";
import { scrape } from "../support/metrics.ts";
import { openWorkspace } from "../support/process.ts";
import { startTestService, type TestService } from "../support/service.ts";

const place = openWorkspace();
const password = "hunter2";
const replica = { checkEveryMs: 20, timeoutMs: 300, ageMsMax: 500 };
const metricsPort = { "metrics-port": "0" };
const services: TestService[] = [];
afterAll(async () => {
  for (const service of services) await service.stop();
  await place.leave();
});

async function start(check: string, bounds = replica): Promise<TestService> {
  const flags = { ...metricsPort, "replica-check": check };
  const service = await startTestService("sqlite", flags, { replica: bounds });
  services.push(service);
  return service;
}

/** What the metrics, the view of backups and the list of what needs attention say. */
async function stateOf(service: TestService) {
  const found = await scrape(service.metricsUrl);
  const sampleOf = (name: string) => found.get(name)!.samples.get(name);
  const key = (await issueOperator(service)).text;
  const get = async (path: string) => (await service.call("GET", `~/admin${path}`, { key })).json;
  const { attention } = (await get("/service")) as { attention: { text: string }[] };
  return {
    up: sampleOf("petstore_replica_up"),
    age: sampleOf("petstore_replica_age_seconds"),
    shown: ((await get("/backups")) as { replica: unknown }).replica,
    attention: attention.map(({ text }) => text).filter((text) => text.includes("copy")),
  };
}

async function sendMore(to: ReadableStreamDefaultController): Promise<void> {
  await Bun.sleep(1);
  to.enqueue(new Uint8Array(65_536));
}

const eventsOf = ({ logged }: TestService) =>
  logged.map((line) => JSON.parse(line)).filter(({ event }) => event.startsWith("replica"));

test("the state of the copy is in metrics, console and log, from Litestream's answers to a sync", async () => {
  const socket = place.path("litestream.sock");
  const asked: unknown[] = [];
  let answer: () => Response | Promise<Response> = () => Response.json({ status: "synced" });
  const litestream = Bun.serve({
    unix: socket,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push({ method: request.method, pathname, body: await request.json() });
      return answer();
    },
  });
  const service = await start(`unix:${socket}`);
  expect(await stateOf(service)).toMatchObject({ up: expect.any(Number), attention: [] });
  await until(async () => (await stateOf(service)).up === 1, 10_000, "a current copy");
  const path = service.databaseUrl.replace("sqlite:", "");
  const body = { path, wait: true, timeout: 15 };
  expect(asked[0]).toEqual({ method: "POST", pathname: "/sync", body });
  const current = await stateOf(service);
  expect(current.age).toBeLessThan(60);
  const shown = { ageSeconds: expect.any(Number), error: null, isOld: false };
  expect(current).toMatchObject({ shown, attention: [] });
  expect(eventsOf(service)).toEqual([]);

  // What it responds is not shown: it may have addresses with passwords.
  answer = () => Response.json({ error: `s3://${password}@bucket` }, { status: 500 });
  await until(() => eventsOf(service).length === 2, 10_000, "both events");
  const error = "Litestream could not copy the last updates (status 500); its log says why";
  expect(eventsOf(service)).toMatchObject([
    { event: "replica not current", error },
    { event: "replica too old", error, ageSeconds: expect.any(Number) },
  ]);
  expect(await stateOf(service)).toMatchObject({
    up: 0,
    shown: { error, isOld: true },
    attention: [`The continuous copy is too old: ${error}.`],
  });

  const becomes = (part: string) =>
    until(async () => JSON.stringify((await stateOf(service)).shown).includes(part), 10_000, part);
  answer = () => new Response(null, { status: 404 });
  await becomes(`Litestream does not copy ${path}; its configuration must name this path`);
  answer = () => new Response(null, { status: 307, headers: { location: "http://127.0.0.1:9/" } });
  await becomes("status 307");
  // It never responds. The service does.
  answer = () => new Promise<Response>(() => {});
  await becomes("the check took too long");
  expect((await service.call("GET", "~/readyz")).status).toBe(200);
  // A body without an end is not read.
  answer = () => new Response(new ReadableStream({ pull: sendMore }));
  await becomes('"error":null');
  expect(eventsOf(service).at(-1)).toMatchObject({ event: "replica current again" });
  expect((await stateOf(service)).attention).toEqual([]);
  await litestream.stop(true);
  await becomes("cannot reach Litestream: ");
  expect(service.logged.join()).not.toContain(password);
});

test("a program that sends no response, and a stop during a check, delay nothing", async () => {
  const path = place.path("hostile.sock");
  const sockets: Socket[] = [];
  const hostile = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    // The head of a response that never ends.
    socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => socket.write(`X-${"a".repeat(999)}: b\r\n`), 1);
    socket.on("close", () => clearInterval(timer));
  }).listen(path);
  const service = await start(`unix:${path}`);
  await until(() => eventsOf(service).length > 0, 10_000, "a failure");
  expect(
    ["the check took too long", "cannot reach Litestream: "].some((one) =>
      eventsOf(service)[0].error.startsWith(one),
    ),
  ).toBe(true);
  expect((await service.call("GET", "~/readyz")).status).toBe(200);
  const count = sockets.length;
  await until(() => sockets.length > count, 10_000, "another check");
  await services.splice(services.indexOf(service), 1)[0]!.stop();
  for (const socket of sockets) socket.destroy();
  hostile.close();
});

test("a command is the check: its exit code counts, it is ended in time with all that it started, and is shown nowhere", async () => {
  const [current, slow, pids] = ["current", "slow", "pids"].map(place.path) as [
    string,
    string,
    string,
  ];
  writeFileSync(current, "");
  const command = `PASSWORD=${password}; echo $PASSWORD >&2; if [ -e ${slow} ]; then sleep 1000 & echo $! $$ > ${pids}; wait; fi; test -e ${current} || exit 3`;
  const service = await start(command);
  await until(async () => (await stateOf(service)).up === 1, 10_000, "a current copy");
  rmSync(current);
  await until(() => eventsOf(service).length > 0, 10_000, "a failure");
  expect(eventsOf(service)[0].error).toBe("the command ended with exit code 3");
  writeFileSync(slow, "");
  const isLate = async () => JSON.stringify(await stateOf(service)).includes("took too long");
  await until(isLate, 10_000, "a check that takes too long");
  rmSync(slow);
  const started = readFileSync(pids, "utf8").trim().split(" ");
  const isEnded = (pid: string) => !existsSync(`/proc/${pid}`) || isZombie(pid);
  await until(() => started.every(isEnded), 10_000, "the end of the command and of its child");
  const config = await place.runHere(["config", "--replica-check", command]);
  expect(config.out).toContain("[hidden]");
  const everything = [service.logged.join(), JSON.stringify(await stateOf(service)), config.out];
  expect(everything.join()).not.toContain(password);
});

function isZombie(pid: string): boolean {
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

test("a URL, a relative socket and a store on PostgreSQL are refused with a sentence, and nothing starts", async () => {
  const rule = "--replica-check must be unix:/PATH of Litestream's control socket, or a command";
  for (const check of [`http://user:${password}@localhost:9090/metrics`, "unix:litestream.sock"]) {
    const { code, err } = await place.runHere(["serve", "--replica-check", check]);
    expect({ code, err: err.trim() }).toEqual({ code: 2, err: `petstore: ${rule}` });
  }
  const asked: string[] = [];
  const server = createServer((socket) => void asked.push(String(socket))).listen(0);
  const { port } = server.address() as { port: number };
  const database = `postgres://127.0.0.1:${port}/shop`;
  const words = ["serve", "--port", "0", "--database", database, "--replica-check", "true"];
  const { code, err } = await place.runHere(words);
  const reason = "--replica-check is for stores on SQLite";
  expect(code).toBe(2);
  expect(err).toStartWith(`petstore: ${reason}`);
  expect(asked).toEqual([]);
  server.close();
});
