import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { enterLoadedPlace, type LoadedPlace } from "./support/crashes.ts";
import { copyOf, destructive, harmless, type Mistake, overwrite } from "./support/mistakes.ts";
import type { Served } from "./support/process.ts";
import { call } from "./support/service.ts";
import { verifyStore } from "./support/stocking.ts";

let loaded: LoadedPlace;
let file: string;
beforeEach(async () => {
  loaded = await enterLoadedPlace();
  file = loaded.place.path("data/production.db");
});
afterEach(() => loaded.place.leave());

const readiness = async (service: Served) =>
  (await call(service.baseUrl, "GET", "~/readyz")).status;

const list = (service: Served) => call(service.baseUrl, "GET", "/inventory", { key: loaded.key });

/** Updates every pet a few times, so that the write-ahead log holds acknowledged updates. */
async function updateAll(service: Served): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const statuses = await Promise.all(loaded.clients.map((one) => loaded.update(service, one)));
    expect(new Set(statuses)).toEqual(new Set([200]));
  }
}

async function untilUnready(service: Served): Promise<void> {
  const begun = performance.now();
  while ((await readiness(service)) === 200) {
    expect(performance.now() - begun).toBeLessThan(1_000);
    await Bun.sleep(10);
  }
}

/** The one line about damage in the log, which is written later. The whole log must be JSON. */
async function damageIn(service: Served): Promise<Record<string, string>> {
  await service.wrote("store file damaged");
  const lines = service
    .written()
    .split("\n")
    .filter((line) => line !== "" && !line.includes("is serving at"))
    .map((line) => JSON.parse(line));
  const [damage, ...more] = lines.filter(({ event }) => event === "store file damaged");
  expect(more).toEqual([]);
  expect(lines.length).toBeLessThan(10);
  return damage;
}

async function kill(service: Served): Promise<void> {
  service.kill("SIGKILL");
  await service.exited;
}

async function expectDetected(service: Served, mistake: Mistake): Promise<void> {
  const [client] = loaded.clients;
  await untilUnready(service);
  expect((await loaded.ask(service, client!)).json).toMatchObject({ code: "unavailable" });
  expect((await list(service)).status).toBe(mistake.reads ? 200 : 503);
  await service.wrote('"store file damaged"');
  const damage = await damageIn(service);
  expect(damage.file).toBe(file + mistake.suffix);
  expect(damage.what).toContain(mistake.what);
  expect(damage.todo).toMatch(/[Rr]estart/);
  expect((await call(service.baseUrl, "GET", "~/healthz")).status).toBe(200);
}

describe("within a second updates get 503, /readyz gets 503 and the log has instructions, after", () => {
  for (const mistake of destructive) {
    test(mistake.name, async () => {
      cpSync(file, copyOf(file));
      const service = await loaded.place.serve();
      await updateAll(service);
      mistake.make(file);
      await expectDetected(service, mistake);
    });
  }

  for (const mistake of harmless) {
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      test(`${mistake.name}; ${signal} then loses no acknowledged update`, async () => {
        const service = await loaded.place.serve();
        await updateAll(service);
        mistake.make(file);
        await expectDetected(service, mistake);
        if (mistake.strands) await service.wrote('"updates saved');
        service.kill(signal);
        expect(await service.exited).toBe(signal === "SIGTERM" ? 0 : 137);
        mistake.mend?.(file);
        await loaded.serveHere(async (again) => {
          await loaded.expectNothingLost(again);
          expect(await loaded.update(again, loaded.clients[0]!)).toBe(200);
        });
        expect((await verifyStore(`sqlite:${file}`)).faults).toEqual([]);
      });
    }
  }
});

test("an update after the log was deleted is refused once the acknowledged updates are saved", async () => {
  const service = await loaded.place.serve();
  await updateAll(service);
  rmSync(`${file}-wal`);
  const refused = await loaded.ask(service, loaded.clients[0]!);
  expect(refused.status).toBe(503);
  await kill(service);
  await loaded.serveHere(loaded.expectNothingLost);
});

test("worse damage is detected after damage that leaves the store readable", async () => {
  const service = await loaded.place.serve();
  await updateAll(service);
  rmSync(`${file}-changes`);
  await service.wrote('production.db-changes"');
  expect((await list(service)).status).toBe(200);
  rmSync(`${file}-wal`);
  await service.wrote('"updates saved');
  expect(service.written()).toContain('production.db-wal"');
  expect((await list(service)).status).toBe(503);
  await kill(service);
  await loaded.serveHere(loaded.expectNothingLost);
});

test("an older copy from the same run that overwrites the database during updates is detected", async () => {
  const service = await loaded.place.serve();
  await updateAll(service);
  const tool = new Database(file);
  const checkpoint = () => tool.run("PRAGMA wal_checkpoint(PASSIVE)");
  checkpoint();
  cpSync(file, copyOf(file));
  let refused = false;
  const steady = loaded.clients.map(async (client) => {
    while (!refused) refused = (await loaded.update(service, client)) !== 200;
  });
  await updateAll(service);
  checkpoint();
  await updateAll(service);
  cpSync(copyOf(file), file);
  await untilUnready(service);
  await Promise.all(steady);
  tool.close();
  expect((await damageIn(service)).what).toContain("overwritten");
});

for (const what of ["an older copy over -shm", "zeros over -shm"]) {
  test(`${what} during updates is detected, and no acknowledged update is lost`, async () => {
    const service = await loaded.place.serve();
    await updateAll(service);
    const older = readFileSync(`${file}-shm`);
    await updateAll(service);
    let refused = false;
    const steady = loaded.clients.map(async (client) => {
      while (!refused) refused = (await loaded.update(service, client)) !== 200;
    });
    overwrite(`${file}-shm`, what.startsWith("zeros") ? Buffer.alloc(older.length) : older);
    await untilUnready(service);
    await Promise.all(steady);
    expect(await damageIn(service)).toMatchObject({ file: `${file}-shm` });
    service.kill("SIGTERM");
    expect(await service.exited).toBe(137);
    await loaded.serveHere(loaded.expectNothingLost);
    expect((await verifyStore(`sqlite:${file}`)).faults).toEqual([]);
  });
}

test("a backup of all files that overwrites an idle store is detected without a write", async () => {
  const service = await loaded.place.serve();
  await updateAll(service);
  const suffixes = ["", "-wal", "-shm"];
  const backup = suffixes.map((suffix) => readFileSync(file + suffix));
  await updateAll(service);
  for (const [at, suffix] of suffixes.entries()) overwrite(file + suffix, backup[at]!);
  await untilUnready(service);
  expect((await damageIn(service)).what).toContain("overwritten");
  expect((await list(service)).status).toBe(503);
});

test("an import beside a service whose -shm was deleted is refused, and changes nothing", async () => {
  const service = await loaded.place.serve();
  await updateAll(service);
  rmSync(`${file}-shm`);
  await untilUnready(service);
  const ran = await loaded.place.run(["pets", "import", "-"], {
    stdin: '{"petId":99,"name":"New"}',
  });
  expect(ran.code).toBe(2);
  expect(ran.err).toContain("restart");
  await kill(service);
  await loaded.serveHere(loaded.expectNothingLost);
});

for (const suffix of ["-serving", "-changes", ""]) {
  test(`while a service runs whose ${suffix || "database"} was deleted, no command works and no other service starts`, async () => {
    const service = await loaded.place.serve();
    await updateAll(service);
    rmSync(file + suffix);
    await untilUnready(service);
    const command = await loaded.place.run(["keys", "create", "--name", "a", "--plan", "free"]);
    expect(command).toMatchObject({ code: 2, out: "" });
    const second = await loaded.place.run(["serve", "--port", "0"]);
    expect(second).toMatchObject({ code: 2, out: "" });
    expect(second.err).toContain("already serving");
    // A refused command creates no empty store in place of the deleted one.
    expect(existsSync(file)).toBe(suffix !== "");
    await kill(service);
  });
}

test("what another program writes after -shm was deleted survives a stop of the service", async () => {
  const service = await loaded.place.serve();
  await updateAll(service);
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

test("imports, checkpoints, readers, VACUUM and backups are not reported as damage", async () => {
  const { place, clients } = loaded;
  const service = await place.serve();
  let busy = true;
  const steady = clients.map(async (client) => {
    while (busy) expect(await loaded.update(service, client)).toBe(200);
  });
  const reader = new Database(file);
  const tool = new Database(file);
  tool.run("PRAGMA busy_timeout = 5000");
  const rows = Array.from({ length: 5_000 }, (_, at) => `{"petId":${at + 100},"name":"Pet"}`);
  for (let round = 0; round < 3; round++) {
    const stdin = rows.map((row) => row.replace("Pet", `Pet ${round}`)).join("\n");
    // A checkpoint stops for this reader and leaves some pages older than others.
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM ledger").get();
    const imported = await place.runHere(["pets", "import", "-"], { stdin });
    expect(imported).toMatchObject({ code: 0, err: "" });
    tool.run("PRAGMA wal_checkpoint(PASSIVE)");
    await updateAll(service);
    reader.run("COMMIT");
    for (const mode of ["PASSIVE", "RESTART", "TRUNCATE"]) {
      tool.run(`PRAGMA wal_checkpoint(${mode})`);
      expect(await readiness(service)).toBe(200);
    }
    tool.run("VACUUM");
    tool.run(`VACUUM INTO '${file}.backup${round}'`);
    expect((await verifyStore(`sqlite:${file}`)).faults).toEqual([]);
  }
  tool.close();
  reader.close();
  busy = false;
  await Promise.all(steady);
  expect(await readiness(service)).toBe(200);
  expect(service.written()).not.toContain("damaged");
  await kill(service);
  expect((await verifyStore(`sqlite:${file}`)).faults).toEqual([]);
});
