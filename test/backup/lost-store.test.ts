import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "../../src/backup/disk.ts";
import { examineStore, findingsOf } from "../support/doctor.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { type Engine, engines, surfaceEngine } from "../support/service.ts";
import { createKey, importPets, verifyStore } from "../support/stocking.ts";
import { until } from "../support/until.ts";

let place: Workspace;
beforeEach(() => {
  place = openWorkspace();
});
afterEach(() => place.leave());

const createFirstKey = ["keys", "create", "--name", "a", "--plan", "free"];
const importRex = () => {
  writeFileSync(place.path("pets.csv"), "petId,name\n1,Rex\n");
  return ["pets", "import", place.path("pets.csv")];
};

/** Commands that create a missing store. */
const creating = () => [["serve"], ["quickstart"], createFirstKey, importRex()];

/** A backup of a store with a pet and a key. All tests use copies of it. */
let backup: Uint8Array;
beforeAll(async () => {
  const first = openWorkspace();
  const source = `sqlite:${first.path("source.db")}`;
  await importPets(source, '{"petId":1,"name":"Rex","quantity":3}');
  await createKey(source, { name: "till", plan: "free" });
  await first.json("backup", first.path("first.petstore"), "--database", source);
  backup = readFileSync(first.path("first.petstore"));
  first.leave();
});

/** The backup in a folder, as the service names it. */
function makeBackup(folder: string, name = "production-20261115T100000Z.petstore"): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), backup);
  return join(folder, name);
}

describe("a store whose files were deleted under a running service", () => {
  // These tests share the remains of a store. The last one restores it.
  const lost = openWorkspace();
  const path = lost.path("data/production.db");
  let written: string;
  beforeAll(async () => {
    await importPets(`sqlite:${path}`, '{"petId":1,"name":"Rex","quantity":3}');
    const service = await lost.serve();
    // The database first, as `rm data/*` does: the service may look at any moment.
    for (const name of readdirSync(lost.path("data")).sort()) rmSync(lost.path(`data/${name}`));
    await service.wrote("store file damaged");
    await until(() => existsSync(`${path}-changes`), 20_000, "the report of the damage");
    service.kill("SIGKILL");
    await service.exited;
    written = service.written();
  });
  afterAll(() => lost.leave());

  test("is not called repaired by a restart in the log", () => {
    const advice = written
      .split("\n")
      .filter((line) => line.includes('"store file damaged"'))
      .map((line) => JSON.parse(line).todo as string);
    expect(advice.length).toBeGreaterThan(0);
    for (const todo of advice) expect(todo).toMatch(/\/proc.*restore a backup/);
  });

  test("is not created again as an empty one", async () => {
    const before = readdirSync(lost.path("data"));
    for (const words of creating()) {
      expect(await lost.runHere(words)).toEqual({
        code: 2,
        out: "",
        err: expect.stringMatching(
          /production\.db is missing or empty, but there was a store.* petstore restore FILE.* move .* away/,
        ),
      });
    }
    expect(readdirSync(lost.path("data"))).toEqual(before);
  });

  test("is restored, or created again once its files were moved away", async () => {
    const found = makeBackup(lost.path("elsewhere"));
    expect(await lost.runHere(["restore", found])).toMatchObject({ code: 0 });
    expect(await lost.runHere(createFirstKey)).toMatchObject({ code: 0 });
    for (const name of readdirSync(lost.path("data"))) rmSync(lost.path(`data/${name}`));
    expect(await lost.runHere(createFirstKey)).toMatchObject({ code: 0 });
  });
});

test("a link whose target is gone shows that there was a store", async () => {
  mkdirSync(place.path("data"));
  mkdirSync(place.path("disk"));
  symlinkSync(place.path("disk/store.db"), place.path("data/production.db"));
  writeFileSync(place.path("disk/store.db-changes"), "");
  expect(await place.runHere(createFirstKey)).toMatchObject({
    code: 2,
    err: expect.stringContaining("disk/store.db-changes"),
  });
  expect(readdirSync(place.path("disk"))).toEqual(["store.db-changes"]);
});

test("an empty file beside the lock of a service is a store whose creation was interrupted", async () => {
  mkdirSync(place.path("data"));
  writeFileSync(place.path("data/production.db"), "");
  writeFileSync(place.path("data/production.db-serving"), "");
  expect(await place.runHere(createFirstKey)).toMatchObject({ code: 0 });
});

const missing: Record<Engine, () => Promise<string>> = {
  sqlite: async () => `sqlite:${place.path("data/production.db")}`,
  postgres: async () => (await sharedPostgres()).freshDatabase(),
};

for (const engine of engines) {
  describe(`${engine}: a missing store with backups in the folder`, () => {
    test("is not created, and the message names the newest backup", async () => {
      const database = await missing[engine]();
      makeBackup(place.path("data/backups"));
      const newest = makeBackup(place.path("data/backups"), "production-20261116T100000Z.petstore");
      // A clock that was ahead gave this name.
      makeBackup(place.path("data/backups"), "production-29991231T000000Z.petstore");
      const folder = ["--backup-folder", place.path("data/backups")];
      for (const words of creating()) {
        const ran = await place.runHere([...words, "--database", database, ...folder]);
        expect(ran).toEqual({
          code: 2,
          out: "",
          err: expect.stringContaining(`newest backup with petstore restore ${newest} --database `),
        });
        expect(ran.err).toContain("a new store needs another --backup-folder");
      }
      expect(readdirSync(place.path("data"))).toEqual(["backups"]);
      const doctor = await place.runHere(["doctor", "--port", "0", "--database", database]);
      expect(doctor.code).toBe(1);
      expect(doctor.out.replace(/\s+/g, " ")).toContain(`petstore restore ${newest}`);
      expect(await place.runHere(["restore", newest, "--database", database])).toMatchObject({
        code: 0,
      });
      expect(await verifyStore(database)).toMatchObject({ faultCount: 0, rows: 1 });
      expect(await place.runHere([...createFirstKey, "--database", database])).toMatchObject({
        code: 0,
      });
    });

    test("is created with another folder, or as the copy of a store", async () => {
      makeBackup(place.path("data/backups"));
      const other = ["--backup-folder", place.path("new")];
      const [first, second] = [await missing[engine](), `sqlite:${place.path("data/copy.db")}`];
      expect(await place.runHere([...createFirstKey, "--database", first, ...other])).toMatchObject(
        {
          code: 0,
        },
      );
      const migrate = ["migrate-store", "--from", first, "--to", second];
      expect(await place.runHere(migrate)).toMatchObject({ code: 0 });
    });

    test("is created if the backups are of the other environment", async () => {
      const folder = place.path("data/backups");
      makeBackup(folder, "staging-20261116T100000Z.petstore");
      const words = ["--database", await missing[engine](), "--backup-folder", folder];
      expect(await place.runHere([...createFirstKey, ...words])).toMatchObject({ code: 0 });
    });
  });

  test(`${engine}: a store elsewhere is created, whatever the default folder has`, async () => {
    makeBackup(place.path("data/backups"));
    const database =
      engine === "sqlite" ? `sqlite:${place.path("data/second.db")}` : await missing[engine]();
    expect(await place.runHere([...createFirstKey, "--database", database])).toMatchObject({
      code: 0,
    });
    const doctor = await place.runHere(["doctor", "--port", "0", "--database", database]);
    expect(doctor.out).toContain("There is no backup of the store yet.");
    expect(doctor.out).not.toContain("ledger rows");
  });
}

test("a backup folder that cannot be read, or leads nowhere, does not count as empty", async () => {
  writeFileSync(place.path("file"), "");
  mkdirSync(place.path("links"));
  symlinkSync(place.path("disk/that/is/not/mounted"), place.path("links/gone"));
  symlinkSync(place.path("links/circle"), place.path("links/circle"));
  const create = async (store: string, folder: string) => {
    const database = ["--database", `sqlite:${place.path(store)}`];
    const backups = ["--backup-folder", place.path(folder)];
    const { code, err } = await place.runHere([...createFirstKey, ...database, ...backups]);
    return `${code} ${err.split("\n")[0]}`;
  };
  const unknown = "a new one is not created while its backups are not known: cannot read ";
  expect(await create("there.db", "does/not/exist/yet")).toStartWith("0 ");
  for (const [folder, problem] of [
    ["file", "a part of the path is not a folder"],
    ["links/gone", "is a link to a folder that does not exist"],
    ["links/gone/deeper/still", "links/gone is a link to a folder that does not exist"],
    ["links/circle", "the links in the path lead in a circle"],
  ]) {
    const refused = await create("absent.db", folder!);
    expect(refused).toStartWith("2 ");
    expect(refused).toContain(unknown + place.path(folder!));
    expect(refused).toEndWith(problem!);
    expect(existsSync(place.path("absent.db"))).toBe(false);
    // An existing store does not depend on the folder.
    expect(await create("there.db", folder!)).toStartWith("0 ");
  }
});

test("a backup folder that is made while it is read counts as empty", async () => {
  for (let count = 0; count < 200; count++) {
    const path = place.path(`made-${count}`);
    const listed = openFolder(path).list("", /./, 1);
    await mkdir(path);
    expect(await listed).toEqual([]);
  }
});

describe(`${surfaceEngine}: backups with ledger rows that the store does not have`, () => {
  test("are none if the store has more rows than its backups", async () => {
    const folder = place.path("backups");
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
    const newest = makeBackup(folder, `production-${time}.petstore`);
    const database = await missing[surfaceEngine]();
    expect(await place.runHere(["restore", newest, "--database", database])).toMatchObject({
      code: 0,
    });
    await importPets(database, '{"petId":1,"name":"Rex","quantity":4}');
    const [finding] = findingsOf(
      await examineStore(database, { "backup-folder": folder }),
      "backup",
    );
    expect(finding).toMatchObject({
      result: "ok",
      found: expect.stringMatching(/^the last one is .* old$/),
    });
  });
});

test("an alert fires while backups are ahead of the store", () => {
  const alerts = readFileSync(
    new URL("../../deploy/prometheus/alerts.yml", import.meta.url),
    "utf8",
  );
  expect(alerts).toContain("expr: max by (job) (petstore_backups_ahead) > 0");
});
