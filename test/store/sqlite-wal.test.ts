import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesOf, type StoreFiles } from "../../src/store/sqlite/engine/files.ts";
import { createWalCheck, type WalCheck } from "../../src/store/sqlite/engine/wal-check.ts";
import { overwrite } from "../support/mistakes.ts";

let folder: string;
let files: StoreFiles;
let database: Database;
let check: WalCheck;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "petstore-wal-"));
  files = filesOf(join(folder, "test.db"));
  database = new Database(files.database, { create: true });
  database.run("PRAGMA journal_mode = wal");
  database.run("PRAGMA synchronous = OFF");
  database.run("PRAGMA wal_autocheckpoint = 0");
  database.run("CREATE TABLE bytes (value BLOB)");
  check = createWalCheck(files);
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(times: number): void {
  const insert = database.query("INSERT INTO bytes VALUES (randomblob(3000))");
  for (let time = 0; time < times; time++) insert.run();
}

test("a log of any length is intact, also after SQLite has restarted it", () => {
  // More than 10,000 frames, so that the index has several blocks.
  for (let round = 0; round < 40; round++) {
    write(100);
    expect(check.findOverwritten()).toBeUndefined();
  }
  database.run("PRAGMA wal_checkpoint(RESTART)");
  write(1);
  expect(check.findOverwritten()).toBeUndefined();
});

for (const frames of [20, 4_200]) {
  test(`an older index in which a commit restored the end is found after ${frames} writes`, () => {
    write(frames);
    const older = readFileSync(files.walIndex);
    write(5);
    expect(check.findOverwritten()).toBeUndefined();
    write(5);
    // A commit that is under way writes the header, and the pages of its own frames.
    const headerBytes = 136;
    const header = readFileSync(files.walIndex).subarray(0, headerBytes);
    overwrite(files.walIndex, older);
    overwrite(files.walIndex, header);
    expect(check.findOverwritten()).toBe("walIndex");
  });
}
