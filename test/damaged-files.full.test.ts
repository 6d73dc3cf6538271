import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { lockForServing } from "../src/store/sqlite/engine/serving-lock.ts";
import { enterLoadedPlace, type LoadedPlace } from "./support/crashes.ts";
import { damageIn, type Host, startHost, untilUnready, type Watched } from "./support/damage.ts";
import {
  copyOf,
  destructive,
  harmless,
  keepOlder,
  type Mistake,
  overwrite,
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
  expect(damage.todo).toMatch(/[Rr]estart/);
  expect((await call(service.baseUrl, "GET", "~/healthz")).status).toBe(200);
}

/** Moves the log into the database file. */
function checkpoint(): void {
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

/** Makes a mistake beside a busy service, and waits until the service has saved what it can. */
async function damage(service: Watched, mistake: Mistake): Promise<void> {
  await updateSome(service);
  keepOlder(file);
  await updateSome(service);
  checkpoint();
  await updateSome(service);
  const steady = mistake.isIdle ? undefined : updateUntilRefused(service);
  if (steady) await updateSome(service);
  mistake.make(file);
  await expectDetected(service, mistake);
  await steady;
  if (mistake.strands) await service.wrote('"updates saved');
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
  /** Where no acknowledged update may be lost when the host is killed, by what was done there. */
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

  test("a backup of all files that overwrites an idle store is detected without a write", async () => {
    const service = await serveTogether();
    await updateSome(service);
    const suffixes = ["", "-wal", "-shm"];
    const backup = suffixes.map((suffix) => readFileSync(file + suffix));
    await updateSome(service);
    for (const [at, suffix] of suffixes.entries()) overwrite(file + suffix, backup[at]!);
    await untilUnready(service);
    expect((await damageIn(service)).what).toContain("overwritten");
    expect((await list(service)).status).toBe(503);
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

  test("an update after the log was deleted is refused once the acknowledged updates are saved", async () => {
    const service = await serveTogether();
    await updateSome(service);
    rmSync(`${file}-wal`);
    const refused = await loaded.ask(service, loaded.clients[0]!);
    expect(refused.status).toBe(503);
    killed.set("an update without -wal", loaded);
  });

  test("worse damage is detected after damage that leaves the store readable", async () => {
    const service = await serveTogether();
    await updateSome(service);
    rmSync(`${file}-changes`);
    await service.wrote('production.db-changes"');
    expect((await list(service)).status).toBe(200);
    rmSync(`${file}-wal`);
    await service.wrote('"updates saved');
    expect(service.written()).toContain('production.db-wal"');
    expect((await list(service)).status).toBe(503);
    killed.set("deleting -changes and then -wal", loaded);
  });

  test("updates are saved also if the log is deleted after another missing file was noticed", async () => {
    const service = await serveTogether();
    await updateSome(service);
    rmSync(`${file}-shm`);
    await service.wrote('"store file damaged"');
    expect((await damageIn(service)).file).toEndWith("-shm");
    rmSync(`${file}-wal`);
    await service.wrote('"updates saved');
    expect((await list(service)).status).toBe(503);
    killed.set("deleting -shm and then -wal", loaded);
  });

  describe("a stop loses no acknowledged update after", () => {
    // One mistake that strands updates, and one that does not. The others differ in how the service notices
    // them, not in how it stops.
    const stopped = /^(deleting -shm|moving the database away)$/;
    for (const mistake of harmless.filter(({ name }) => stopped.test(name))) {
      test(mistake.name, async () => {
        await damage(await serveTogether(), mistake);
        await host.stop(loaded.database);
        mistake.mend?.(file);
        await expectNothingLostHere();
      });
    }
  });

  describe("SIGKILL loses no acknowledged update after", () => {
    beforeAll(() => host.kill());

    const others: Pick<Mistake, "name" | "strands" | "mend">[] = [
      { name: "an update without -wal" },
      { name: "deleting -changes and then -wal" },
      { name: "deleting -shm and then -wal", strands: true },
    ];
    for (const { name, strands, mend } of [...harmless, ...others]) {
      test(name, async () => {
        await enter(killed.get(name)!);
        mend?.(file);
        // Where a service had to save updates into the database, the next one is a service too.
        if (strands) return expectNothingLostHere();
        await loaded.expectNothingLostInStore();
        await expectSound();
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

  test("an older copy over -shm during updates is detected, and no acknowledged update is lost", async () => {
    const service = await loaded.place.serve();
    await updateSome(service);
    const older = readFileSync(`${file}-shm`);
    await updateSome(service);
    const steady = updateUntilRefused(service);
    await updateSome(service);
    overwrite(`${file}-shm`, older);
    await untilUnready(service);
    await steady;
    expect(await damageIn(service)).toMatchObject({ file: `${file}-shm` });
    service.kill("SIGTERM");
    expect(await service.exited).toBe(137);
    await loaded.serveHere(loaded.expectNothingLost);
    await expectSound();
  });

  test("what another program writes after -shm was deleted survives a stop of the service", async () => {
    const service = await loaded.place.serve();
    await updateSome(service);
    rmSync(`${file}-shm`);
    const tool = new Database(file);
    tool.run("UPDATE pets SET name = 'Renamed' WHERE pet_id = 0");
    tool.close();
    await untilUnready(service);
    service.kill("SIGTERM");
    expect(await service.exited).toBe(137);
    expect(service.written()).toContain("ending without closing");
    await loaded.serveHere(loaded.expectNothingLost);
    expect((await loaded.place.runHere(["pets", "export", "-"])).out).toContain("Renamed");
  });
});
