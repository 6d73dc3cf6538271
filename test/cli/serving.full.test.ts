import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { openWorkspace, signalUntilEnd, type Workspace } from "../support/process.ts";
import { call } from "../support/service.ts";
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

describe("serve", () => {
  test("fails on a link whose target did not exist when the first process started", async () => {
    mkdirSync(place.path("data"));
    symlinkSync("real.db", place.path("data/link.db"));
    const database = (name: string) => ["serve", "--database", `sqlite:./data/${name}`];
    await place.serve(database("link.db"));
    for (const name of ["real.db", "link.db"]) {
      expectUsageError(await place.runHere([...database(name), "--port", "0"]), "already serving");
    }
  });

  test("starts although -serving has other content, and fails only while a process serves", async () => {
    await createStore(database());
    const spoil = () =>
      writeFileSync(place.path("data/production.db-serving"), "another program".repeat(99));
    spoil();
    await place.serve();
    spoil();
    expectUsageError(await place.runHere(["serve", "--port", "0"]), "already serving");
  });
});

test("while another process locks the file, updates get 503, and soon after it they work", async () => {
  await addPet();
  const { key } = await issue();
  const service = await place.serve();
  const holder = new Database(place.path("data/production.db"));
  holder.run("BEGIN IMMEDIATE");
  const body = '{"quantity":5}';
  const update = async () =>
    (await call(service.baseUrl, "PATCH", "/inventory/1", { key, body })).status;
  // By the time the first update times out, usage is waiting to be saved.
  expect(await update()).toBe(503);
  expect(await update()).toBe(503);
  expect((await place.runHere(["pets", "export", "-"])).out).toContain('"quantity":0');
  holder.run("ROLLBACK");
  holder.close();
  // On a busy machine SQLite waits longer than it was asked to. Until it returns, updates get 503.
  let last = await update();
  while (last === 503) last = await update();
  expect(last).toBe(200);
});

test("a second signal ends the process at once, also with requests in flight and during a drain", async () => {
  await addPet();
  const { key } = await issue();
  const service = await place.serve(["serve", "--drain-seconds", "3600"]);
  const holder = new Database(place.path("data/production.db"));
  holder.run("BEGIN IMMEDIATE");
  const update = call(service.baseUrl, "PATCH", "/inventory/1", { key, body: '{"quantity":5}' });
  update.catch(() => {});
  await untilInFlight(service.baseUrl, key);
  service.kill("SIGTERM");
  await service.wrote('"stopping"');
  expect(await signalUntilEnd(service, "SIGTERM")).toBe(1);
  holder.close();
  expect(update).rejects.toThrow();
});

test("quickstart does not change a store with pets or keys", async () => {
  await addPet();
  const service = await place.serve(["quickstart"]);
  expect(await place.json<unknown[]>("keys", "list")).toEqual([]);
  service.kill("SIGTERM");
  await service.exited;
  expect(service.written()).not.toContain("psk_live_");
});

describe("npm start in a checkout", () => {
  // These tests share a checkout. The first one builds its console.
  const checkout = openWorkspace();
  const root = resolve(import.meta.dir, "../..");
  beforeAll(() => {
    for (const part of ["bin", "src", "client/src", "scripts", "package.json", "tsconfig.json"]) {
      cpSync(join(root, part), checkout.path(part), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), checkout.path("node_modules"));
  });
  afterAll(() => checkout.leave());

  test("prints keys and a curl command, and stores its data in the checkout", async () => {
    const service = await checkout.serve([], { command: ["npm", "start", "--silent", "--"] });
    await service.wrote("/inventory\n");
    const [key] = /psk_live_\w+/.exec(service.written())!;
    expect((await call(service.baseUrl, "GET", "/inventory", { key })).status).toBe(200);
    expect((await call(service.baseUrl, "GET", "~/console")).status).toBe(200);
    expect(existsSync(checkout.path("data/production.db"))).toBe(true);
    service.kill("SIGTERM");
    await service.wrote('"stopping"');
    await service.exited;
  });

  test("is one process from the script to the service, so that a signal reaches it", async () => {
    const service = await checkout.serve([], { command: ["sh", "bin/start"] });
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    expect(service.written()).toContain('"signal":"SIGTERM"');
  });
});

/** Waits until the service has counted a request of the key, which means that it has received it. */
async function untilInFlight(baseUrl: string, key: string): Promise<void> {
  for (;;) {
    const answer = await call(baseUrl, "GET", "/nothing", { key });
    if (Number(answer.headers.get("x-ratelimit-remaining")) < 999) return;
  }
}
