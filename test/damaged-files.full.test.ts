import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { lockForServing } from "../src/store/sqlite/engine/serving-lock.ts";
import { enterLoadedPlace, type LoadedPlace } from "./support/crashes.ts";
import { damageIn, type Host, startHost, untilUnready, type Watched } from "./support/damage.ts";
import { untilMarked } from "./support/mark.ts";
import {
  copyOf,
  destructive,
  harmless,
  keepOlder,
  losing,
  type Mistake,
} from "./support/mistakes.ts";
import { call } from "./support/service.ts";
import { verifyStore } from "./support/stocking.ts";

let template: LoadedPlace;
beforeAll(async () => {
  template = await enterLoadedPlace();
});
afterAll(() => template.place.leave());

let loaded: LoadedPlace;
let file: string;

async function enter(given?: LoadedPlace): Promise<void> {
  loaded = given ?? (await enterLoadedPlace(template));
  file = loaded.place.path("data/production.db");
}

const list = (service: Watched) => call(service.baseUrl, "GET", "/inventory", { key: loaded.key });

/** The clients that send updates. Each of them has one pet. */
const updating = () => loaded.clients.slice(0, 4);

/** Updates some pets a few times, so that the write-ahead log holds acknowledged updates. */
async function updateSome(service: Watched): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const statuses = await Promise.all(updating().map((one) => loaded.update(service, one)));
    expect(statuses).toEqual([200, 200, 200, 200]);
  }
}

async function expectSound(): Promise<void> {
  expect((await verifyStore(`sqlite:${file}`)).faults).toEqual([]);
}

async function expectDetected(service: Watched, mistake: Mistake): Promise<void> {
  const [client] = loaded.clients;
  await untilUnready(service);
  expect((await loaded.ask(service, client!)).json).toMatchObject({ code: "unavailable" });
  expect((await list(service)).status).toBe(mistake.reads ? 200 : 503);
  await service.wrote('"store file damaged"');
  const damage = await damageIn(service);
  if (mistake.suffix !== undefined) expect(damage.file).toBe(file + mistake.suffix);
  expect(damage.what).toContain(mistake.what);
  expect(damage.todo).toMatch(/restart|start it/i);
  expect((await call(service.baseUrl, "GET", "~/healthz")).status).toBe(200);
}

/** Moves the log into the database file. */
function runWalCheckpoint(): void {
  const tool = new Database(file);
  tool.run("PRAGMA wal_checkpoint(PASSIVE)");
  tool.close();
}

/** Sends updates until the service refuses one. */
async function updateUntilRefused(service: Watched): Promise<void> {
  let isRefused = false;
  const steady = loaded.clients.slice(4).map(async (client) => {
    while (!isRefused) isRefused = (await loaded.update(service, client)) !== 200;
  });
  await Promise.all(steady);
}

/** The last row of the store: one for every pet and for every update. */
const lastRow = () =>
  loaded.clients.reduce((sum, { acknowledged }) => sum + acknowledged, loaded.clients.length);

/** Updates the store until there is an older state of its files, and the log has rows that the mark names. */
async function prepare(service: Watched): Promise<void> {
  await updateSome(service);
  keepOlder(file);
  await updateSome(service);
  runWalCheckpoint();
  await updateSome(service);
  await untilMarked(file, lastRow());
}

/** Makes a mistake beside a busy service. */
async function damage(service: Watched, mistake: Mistake): Promise<void> {
  await prepare(service);
  const steady = mistake.isIdle ? undefined : updateUntilRefused(service);
  if (steady) await updateSome(service);
  mistake.make(file);
  await expectDetected(service, mistake);
  await steady;
}

/** Expects the next service to have every acknowledged update, to store another and to leave a sound store. */
async function expectNothingLostHere(): Promise<void> {
  await loaded.serveHere(async (again) => {
    await loaded.expectNothingLost(again);
    expect(await loaded.update(again, loaded.clients[0]!)).toBe(200);
  });
  await expectSound();
}

describe("of services that share a process,", () => {
  let host: Host;
  const places: LoadedPlace[] = [];
  /** The stores that are damaged when the host is killed, by what was done there. */
  const killed = new Map<string, LoadedPlace>();
  beforeAll(async () => {
    host = await startHost();
  });
  afterAll(async () => {
    await host.kill();
    await Promise.all(places.map(({ place }) => place.leave()));
  });

  /** Serves a new store, of which there is a copy from before. */
  async function serveTogether(): Promise<Watched> {
    await enter();
    places.push(loaded);
    cpSync(file, copyOf(file));
    return host.serve(loaded.database);
  }

  describe("updates get 503, /readyz gets 503 and the log has instructions, after", () => {
    for (const mistake of [...destructive, ...harmless]) {
      test(mistake.name, async () => {
        await damage(await serveTogether(), mistake);
        killed.set(mistake.name, loaded);
      });
    }
  });

  for (const [suffix, name] of [
    ["-serving", "deleting -serving"],
    ["-changes", "deleting -changes"],
    ["", "moving the database away"],
  ] as const) {
    test(`no command works and no other service starts beside a service after ${name}`, async () => {
      await enter(killed.get(name)!);
      const words = ["keys", "create", "--name", "a", "--plan", "free"];
      expect(await loaded.place.runHere(words)).toMatchObject({ code: 2, out: "" });
      // Another service takes this lock before anything else. One of them runs as a process.
      expect(() => lockForServing(file)).toThrow("already serving");
      if (suffix === "") {
        const second = await loaded.place.run(["serve", "--port", "0"]);
        expect(second).toMatchObject({ code: 2, out: "" });
        expect(second.err).toContain("already serving");
      }
      // A refused command creates no empty store in place of the one that is gone.
      expect(existsSync(file)).toBe(suffix !== "");
    });
  }

  test("an import beside a service whose -shm was deleted is refused, and changes nothing", async () => {
    await enter(killed.get("deleting -shm")!);
    const ran = await loaded.place.runHere(["pets", "import", "-"], {
      stdin: '{"petId":99,"name":"New"}',
    });
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("its log says what to do");
  });

  test("worse damage is detected after damage that leaves the store readable", async () => {
    const service = await serveTogether();
    await prepare(service);
    rmSync(`${file}-changes`);
    await service.wrote('production.db-changes"');
    expect((await list(service)).status).toBe(200);
    rmSync(`${file}-wal`);
    await service.wrote('production.db-wal"');
    expect((await list(service)).status).toBe(503);
    killed.set("deleting -changes and then -wal", loaded);
  });

  describe("a stop loses no acknowledged update after", () => {
    // A log that is moved by the stop, one that stays, and one that the next start recovers. The others
    // differ in how the service notices them, not in how it stops.
    const stopped = /^(deleting -wal|deleting -shm|moving the database away)$/;
    for (const mistake of harmless.filter(({ name }) => stopped.test(name))) {
      test(mistake.name, async () => {
        await damage(await serveTogether(), mistake);
        await host.stop(loaded.database);
        mistake.mend?.(file);
        await expectNothingLostHere();
      });
    }
  });

  describe("after SIGKILL,", () => {
    beforeAll(async () => {
      for (const { name, make } of losing) {
        await prepare(await serveTogether());
        make(file);
        killed.set(name, loaded);
      }
      await host.kill();
    });

    for (const { name, mend } of harmless.filter(({ strands }) => !strands)) {
      test(`no acknowledged update is lost by ${name}`, async () => {
        await enter(killed.get(name)!);
        mend?.(file);
        await loaded.expectNothingLostInStore();
        await expectSound();
      });
    }

    const stranding = harmless.filter(({ strands }) => strands);
    const more = { name: "deleting -changes and then -wal" };
    for (const { name } of [...stranding, more, ...losing]) {
      test(`the next start is refused because of ${name}`, async () => {
        await enter(killed.get(name)!);
        const serving = loaded.serveHere(async () => {});
        await expect(serving).rejects.toThrow(/\d+ updates are missing|file is damaged/);
      });
    }
  });
});

describe("of a service in a process of its own,", () => {
  beforeEach(() => enter());
  afterEach(() => loaded.place.leave());

  test("SIGTERM ends the process and loses no acknowledged update after deleting every side file at once", async () => {
    // The other mistakes differ for the service, but not for its process.
    const name = "deleting every side file at once";
    const mistake = harmless.find((one) => one.name === name)!;
    const service = await loaded.place.serve();
    await damage(service, mistake);
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    mistake.mend?.(file);
    await expectNothingLostHere();
  });

  test("a deleted database is complete again once it is copied from the process", async () => {
    const service = await loaded.place.serve();
    await prepare(service);
    rmSync(file);
    await untilUnready(service);
    const folder = `/proc/${service.pid}/fd`;
    const open = readdirSync(folder).find(
      (name) => readlinkSync(join(folder, name)) === `${file} (deleted)`,
    );
    cpSync(join(folder, open!), file, { dereference: true });
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    await expectNothingLostHere();
  });
});
