import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, linkSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace, type Served, type Workspace } from "../support/process.ts";
import { call, startTestService } from "../support/service.ts";
import { createKey, createStore, importPets } from "../support/stocking.ts";
import { expectUsageError } from "../support/usage-errors.ts";

let place: Workspace;
beforeEach(() => {
  place = openWorkspace();
});
afterEach(() => place.leave());

const database = () => `sqlite:${place.path("data/production.db")}`;
const issue = () => createKey(database(), { name: "till", plan: "business" });
const addPet = () => importPets(database(), '{"petId":1,"name":"Rex"}');

describe("serve on a new database", () => {
  // These tests share a service.
  const shared = openWorkspace();
  let service: Served;
  beforeAll(async () => {
    service = await shared.serve();
  });
  afterAll(() => shared.leave());

  test("adds neither data nor keys, and is ready when it prints its address", async () => {
    expect((await call(service.baseUrl, "GET", "~/readyz")).status).toBe(200);
    const health = (port: string) => shared.runHere(["health", "--port", port]);
    const { port } = new URL(service.baseUrl);
    expect(await health(port)).toMatchObject({ code: 0, out: expect.stringContaining("is ready") });
    expect(await health("1")).toMatchObject({ code: 1, err: expect.stringContaining("not ready") });
    expect(await shared.json<unknown[]>("keys", "list")).toEqual([]);
    expect((await shared.runHere(["pets", "export", "-"])).out).toBe("");
    expect(existsSync(shared.path("data/production.db"))).toBe(true);
  });

  test("fails if another process serves it, also through a link", async () => {
    expectUsageError(
      await shared.runHere(["serve", "--port", "0"]),
      "another process is already serving",
    );
    symlinkSync("production.db", shared.path("data/link.db"));
    expectUsageError(
      await shared.runHere(["serve", "--port", "0", "--database", "sqlite:./data/link.db"]),
      "another process is already serving",
    );
  });

  test("is named if the other environment starts with its settings, before the ports and the store", async () => {
    const listener = Bun.serve({ port: 0, fetch: () => new Response() });
    const metrics = ["--metrics-port", String(listener.port)];
    const database = ["--database", `sqlite:${shared.path("data/production.db")}`];
    const sentence = "the database belongs to the production environment, not to staging";
    for (const port of [metrics, []]) {
      const words = ["serve", "--env", "staging", "--port", "0", ...database, ...port];
      expectUsageError(await shared.runHere(words), sentence);
    }
    const own = ["serve", "--port", "0", ...database, ...metrics];
    expectUsageError(await shared.runHere(own), "another process uses the port");
    const none = ["serve", "--env", "staging", "--port", "0", ...metrics];
    expectUsageError(await shared.runHere(none), "another process uses the port");
    expect(existsSync(shared.path("data/staging.db"))).toBe(false);
    await listener.stop(true);
  });

  test("cannot be copied to another store by migrate-store", async () => {
    const words = ["--from", `sqlite:${shared.path("data/production.db")}`];
    const refused = await shared.runHere([
      ...["migrate-store", ...words, "--to", await createdDatabase()],
    ]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("already serving");
  });
});

// A service that cannot start runs in the process of the tests. The tests above start one as a process.
describe("serve", () => {
  test("fails on a database with a second hard link, for which SQLite would write a second log", async () => {
    await addPet();
    linkSync(place.path("data/production.db"), place.path("data/second.db"));
    for (const name of ["production.db", "second.db"]) {
      const words = ["serve", "--port", "0", "--database", `sqlite:./data/${name}`];
      expectUsageError(await place.runHere(words), "has a second name");
    }
    rmSync(place.path("data/second.db"));
    const service = await startTestService("sqlite", { database: database() });
    await service.stop();
  });

  test("fails on a port that is in use", async () => {
    using taken = takePort();
    await createStore(database());
    const refused = await place.runHere(["serve", "--port", String(taken.port)]);
    expectUsageError(refused, `cannot listen on 127.0.0.1:${taken.port}`);
  });
});

test("a first signal finishes requests in flight, rejects new connections, and exits 0", async () => {
  await addPet();
  const { key } = await issue();
  const service = await place.serve();
  // The update stays in flight while another process holds the write lock.
  const holder = new Database(place.path("data/production.db"));
  holder.run("BEGIN IMMEDIATE");
  const update = call(service.baseUrl, "PATCH", "/inventory/1", {
    key,
    body: '{"quantity":5}',
  });
  await untilInFlight(service.baseUrl, key);
  service.kill("SIGTERM");
  await service.wrote('"stopping"');
  holder.run("COMMIT");
  holder.close();
  const answer = await update;
  expect(answer.status).toBe(200);
  expect(await service.exited).toBe(0);
  expect(call(service.baseUrl, "GET", "~/healthz")).rejects.toThrow();
  expect((await place.runHere(["pets", "export", "-"])).out).toContain('"quantity":5');
  expect((await place.runHere(["verify"])).code).toBe(0);
});

test("a stop does not wait for idle connections", async () => {
  const idleService = await startTestService("sqlite", {}, { stopGraceMs: 600_000 });
  const { hostname, port } = new URL(idleService.baseUrl);
  const socket = { data() {} };
  const idle = await Bun.connect({ hostname, port: Number(port), socket });
  await idleService.stop();
  idle.end();
});

describe("quickstart", () => {
  const keyLine = /^API key: +(psk_live_\w+)$/m;

  test("adds data to an empty store and prints keys and a curl command that work; later runs change nothing", async () => {
    {
      // A run that cannot listen creates no key, so that the next one can print it.
      using taken = takePort();
      await createStore(database());
      const refused = await place.runHere(["quickstart", "--port", String(taken.port)]);
      expectUsageError(refused, "cannot listen");
    }
    const first = await place.serve(["quickstart"]);
    await first.wrote("curl");
    const [, key] = keyLine.exec(first.written())!;
    await first.wrote("/inventory\n");
    const [, curl] = /^ {2}(curl .*)$/m.exec(first.written())!;
    expect(curl).toBe(`curl -H "Authorization: Bearer ${key}" ${first.baseUrl}/inventory`);
    const shown = await call(first.baseUrl, "GET", "/inventory", { key });
    expect(shown.status).toBe(200);
    expect(shown.json).toHaveLength(10);
    const [, operatorKey] = /^Operator key: +(pso_live_\w+)$/m.exec(first.written())!;
    const signIn = { method: "POST", headers: { Authorization: `Bearer ${operatorKey}` } };
    expect((await fetch(new URL("/admin/session", first.baseUrl), signIn)).status).toBe(201);
    expect(first.written()).toContain(`Console:       ${new URL("/console", first.baseUrl)}\n`);
    first.kill("SIGINT");
    expect(await first.exited).toBe(0);

    const catalogue = await place.runHere(["pets", "export", "-"]);
    const second = await place.serve(["quickstart"]);
    expect((await call(second.baseUrl, "GET", "/inventory", { key })).status).toBe(200);
    await second.wrote("--operator\n");
    expect(second.written()).toContain(
      `${second.baseUrl}
Console:        ${new URL("/console", second.baseUrl)}
API reference:  ${new URL("/docs", second.baseUrl)}
Database:       ${realpathSync(place.path("data/production.db"))}
Another key:    petstore keys create --name NAME --plan business
Operator key:   petstore keys create --name NAME --operator
`,
    );
    second.kill("SIGTERM");
    expect(await second.exited).toBe(0);
    expect(second.written()).not.toMatch(/ps[ko]_live_/);
    expect(await place.runHere(["pets", "export", "-"])).toEqual(catalogue);
    expect(await place.json<unknown[]>("keys", "list")).toHaveLength(2);
  });
});

/** Listens on a free port. */
function takePort(): Disposable & { readonly port: number } {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  return { port: listener.port, [Symbol.dispose]: () => listener.stop(true) };
}

/** Waits until the service has counted a request of the key, which means that it has received it. */
async function untilInFlight(baseUrl: string, key: string): Promise<void> {
  for (;;) {
    const answer = await call(baseUrl, "GET", "/nothing", { key });
    if (Number(answer.headers.get("x-ratelimit-remaining")) < 999) return;
  }
}
