import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, copyFileSync, fstatSync, futimesSync, openSync, statSync } from "node:fs";
import { schema } from "../../src/store/sqlite/schema.ts";
import { openWorkspace, type Ran, type Workspace } from "../support/process.ts";
import { createKey, importPets, verifyStore } from "../support/stocking.ts";
import { canTrace, runTraced } from "../support/strace.ts";

let place: Workspace;
beforeEach(() => {
  place = openWorkspace();
});
afterEach(() => place.leave());

/** The address of the store that commands get. */
const store = () => `sqlite:${place.path("image.db")}`;

/**
 * Copies a database and its journal in the middle of a transaction, as a process that is killed leaves
 * them.
 */
function copyMidway(path: string, transaction: (database: Database) => void): void {
  const database = new Database(path, { create: true, safeIntegers: true, strict: true });
  // Without room in memory, pages are written to the file before the transaction ends.
  database.run("PRAGMA cache_size = 1");
  database.run("BEGIN IMMEDIATE");
  transaction(database);
  for (const ending of ["", "-journal"]) {
    expect(statSync(path + ending).size).toBeGreaterThan(0);
    copyFileSync(path + ending, place.path(`image.db${ending}`));
  }
  database.run("ROLLBACK");
  database.close();
}

const run = (...words: string[]) => place.runHere([...words, "--database", store()]);
const createFirstKey = () => run("keys", "create", "--name", "a", "--plan", "free");

/** Serves until the service says that it is ready. */
async function serve(): Promise<Ran> {
  const service = await place.serve(["serve", "--database", store()]);
  service.kill("SIGTERM");
  return { code: await service.exited, out: "", err: "" };
}

describe("a store whose creation was killed", () => {
  const copyNew = () => copyMidway(place.path("new.db"), (database) => database.run(schema));

  const creating: Record<string, () => Promise<Ran>> = {
    "keys create": createFirstKey,
    serve,
    "pets import": () => {
      const file = place.path("pets.ndjson");
      return Bun.write(file, '{"petId":1,"name":"Rex"}').then(() => run("pets", "import", file));
    },
    "migrate-store": async () => {
      const source = `sqlite:${place.path("source.db")}`;
      await createKey(source, { name: "a", plan: "free" });
      return place.runHere(["migrate-store", "--from", source, "--to", store()]);
    },
  };
  for (const [name, create] of Object.entries(creating)) {
    test(`is created again by ${name}`, async () => {
      copyNew();
      expect(await create()).toMatchObject({ code: 0 });
      expect(await verifyStore(store())).toMatchObject({ faultCount: 0 });
    });
  }

  const needing = [["verify"], ["keys", "list"], ["backup", "b.petstore"]];
  for (const words of needing) {
    test(`does not exist for ${words.join(" ")}`, async () => {
      copyNew();
      expect(await run(...words)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`there is no store at ${place.path("image.db")}: the file is`),
      });
      expect(await createFirstKey()).toMatchObject({ code: 0 });
    });
  }

  test("does not exist for doctor", async () => {
    copyNew();
    const { code, out } = await run("doctor", "--port", "0");
    expect(code).toBe(1);
    expect(out).toContain("there is no store at");
    expect(out).not.toContain("READONLY");
  });
});

describe("a log that a killed process left", () => {
  const longAgo = new Date("2020-01-01T00:00:00Z");

  /** Copies a store and its log while it is open, and opens the copy of the log. */
  async function copyWithLog(): Promise<number> {
    const original = place.path("original.db");
    await importPets(`sqlite:${original}`, '{"petId":1,"name":"Rex","quantity":3}');
    const open = new Database(original);
    // A connection that has read keeps others from moving the log into the database file.
    open.query("SELECT * FROM keys").values();
    await createKey(`sqlite:${original}`, { name: "last", plan: "free" });
    for (const ending of ["", "-wal"]) {
      copyFileSync(original + ending, place.path(`image.db${ending}`));
    }
    open.close();
    const log = openSync(place.path("image.db-wal"), "r");
    expect(fstatSync(log).size).toBeGreaterThan(0);
    futimesSync(log, longAgo, longAgo);
    return log;
  }

  async function expectLastKey(): Promise<void> {
    const listed = await run("keys", "list", "--json");
    expect(listed).toMatchObject({ code: 0, out: expect.stringContaining('"last"') });
  }

  test("is written again, and nothing in it is lost", async () => {
    const log = await copyWithLog();
    await expectLastKey();
    expect(fstatSync(log).mtimeMs).toBeGreaterThan(longAgo.getTime());
    closeSync(log);
    expect(await verifyStore(store())).toMatchObject({ faultCount: 0, rows: 1 });
  });

  test.skipIf(!canTrace)(
    "is written and flushed before anything is written to the database file (needs strace)",
    async () => {
      closeSync(await copyWithLog());
      const ran = await runTraced(place, ["keys", "list", "--database", store()]);
      expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("last") });
      const files = [place.path("image.db"), place.path("image.db-wal")];
      const [database, log] = files as [string, string];
      const calls = ran.calls.filter(({ file }) => files.includes(file));
      const before = calls.slice(
        0,
        calls.findIndex(({ name, file }) => name === "pwrite64" && file === database),
      );
      expect(before.length).toBeGreaterThan(0);
      expect(before.at(0)).toEqual({ name: "pwrite64", file: log });
      expect(before.at(-1)).toEqual({ name: "fsync", file: log });
    },
  );

  test("is left alone while another connection uses it", async () => {
    const log = await copyWithLog();
    const other = new Database(place.path("image.db"));
    other.query("SELECT * FROM keys").values();
    await expectLastKey();
    expect(fstatSync(log).mtimeMs).toBe(longAgo.getTime());
    other.close();
    closeSync(log);
  });
});
