import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { openForWriting, setPragma } from "../../src/store/sqlite/engine/connection.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { createTestClock } from "../support/clock.ts";
import { expectPrivateStore } from "../support/file-modes.ts";
import { petRow } from "../support/pets.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { setUnit } from "../support/units.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "petstore-files-"));
  path = join(folder, "test.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (threaded: boolean) =>
  openSqlite({ path, environment: "production", clock: createTestClock(), threaded });

describe("a connection that writes", () => {
  test("waits for the disk at every commit", () => {
    const database = openForWriting({ path, environment: "production" }, 0);
    expect(database.query("PRAGMA synchronous").values()).toEqual([[2n]]);
    expect(database.query("PRAGMA journal_mode").values()).toEqual([["wal"]]);
    expect(database.query("PRAGMA foreign_keys").values()).toEqual([[1n]]);
    expect(database.query("PRAGMA mmap_size").values()).toEqual([[0n]]);
    database.close();
  });

  test("is refused when SQLite does not support a setting", () => {
    const database = new Database(":memory:", { safeIntegers: true });
    expect(() => setPragma(database, "journal_mode", "wal")).toThrow("does not support");
    // SQLite does not know this level and uses another one.
    expect(() => setPragma(database, "synchronous", 7n)).toThrow("does not support");
    database.close();
  });
});

for (const threaded of [false, true]) {
  const who = threaded ? "the service" : "a command";
  test(`a commit of ${who} to a file that is moved away during the commit is not reported as stored`, async () => {
    const store = await open(threaded);
    const pets = async function* () {
      yield [petRow({ petId: 1n })];
    };
    await store.catalogue.importPets(pets(), commandImport("test"));
    // Another process holds the lock, moves the file while the commit waits, and releases the lock.
    const holder = Bun.spawn(
      [
        process.execPath,
        "-e",
        `import { Database } from "bun:sqlite";
       import { renameSync } from "node:fs";
       import { pass } from ${JSON.stringify(join(import.meta.dir, "../support/until.ts"))};
       const database = new Database(${JSON.stringify(path)});
       database.run("BEGIN IMMEDIATE");
       console.log("held");
       await Bun.stdin.text();
       await pass(300);
       renameSync(${JSON.stringify(path)}, ${JSON.stringify(`${path}.away`)});
       database.run("ROLLBACK");
       process.kill(process.pid, "SIGKILL");`,
      ],
      { stdin: "pipe", stdout: "pipe" },
    );
    await holder.stdout.getReader().read();
    holder.stdin.end();
    await expect(store.inventory.commit([setUnit(1n, 7)])).rejects.toMatchObject({
      code: "unavailable",
    });
    await holder.exited;
    await store.close();
    // The commit was stored in the moved file. The check after the commit rejected it.
    renameSync(`${path}.away`, path);
    const moved = await open(false);
    expect(await moved.inventory.entriesAfter(null, 9)).toMatchObject([{ quantity: 7 }]);
    await moved.close();
  });
}

describe("only the owner can open", () => {
  let place: Workspace;
  beforeEach(() => {
    place = openWorkspace();
  });
  afterEach(() => place.leave());

  test("the files of a store and a folder created for it, under umask 0", () =>
    expectPrivateStore(place, "0"));
});
