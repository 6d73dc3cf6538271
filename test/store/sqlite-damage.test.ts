import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openForWriting } from "../../src/store/sqlite/engine/connection.ts";
import {
  type Content,
  createDatabaseCheck,
  type DatabaseCheck,
} from "../../src/store/sqlite/engine/database-check.ts";
import { filesOf, type StoreFiles } from "../../src/store/sqlite/engine/files.ts";
import { createWalCheck, type WalCheck } from "../../src/store/sqlite/engine/wal-check.ts";
import { setEpoch } from "../../src/store/sqlite/epochs.ts";
import { overwrite } from "../support/mistakes.ts";

let folder: string;
let files: StoreFiles;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "petstore-damage-"));
  files = filesOf(join(folder, "test.db"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the check of the log", () => {
  let database: Database;
  let check: WalCheck;
  beforeEach(() => {
    database = new Database(files.database, { create: true });
    database.run("PRAGMA journal_mode = wal");
    database.run("PRAGMA synchronous = OFF");
    database.run("PRAGMA wal_autocheckpoint = 0");
    database.run("CREATE TABLE bytes (value BLOB)");
    check = createWalCheck(files);
  });
  afterEach(() => database.close());

  function write(times: number): void {
    const insert = database.query("INSERT INTO bytes VALUES (randomblob(3000))");
    for (let time = 0; time < times; time++) insert.run();
  }

  test("finds a log of any length intact, also after SQLite has restarted it", () => {
    // More than 10,000 frames, so that the index has several blocks.
    for (let round = 0; round < 40; round++) {
      write(100);
      expect(check.findOverwritten()).toBeUndefined();
    }
    database.run("PRAGMA wal_checkpoint(RESTART)");
    write(1);
    expect(check.findOverwritten()).toBeUndefined();
  });

  for (const writes of [20, 4_200]) {
    test(`finds an older index after ${writes} writes, even if a commit has restored its end`, () => {
      write(writes);
      const older = readFileSync(files.walIndex);
      write(5);
      expect(check.findOverwritten()).toBeUndefined();
      write(5);
      // A commit writes the header of the index again.
      const headerBytes = 136;
      const header = readFileSync(files.walIndex).subarray(0, headerBytes);
      overwrite(files.walIndex, older);
      overwrite(files.walIndex, header);
      expect(check.findOverwritten()).toBe("walIndex");
    });
  }
});

describe("the check of the database file", () => {
  let database: Database;
  beforeEach(() => {
    database = openForWriting(files.database, "production", 0);
  });
  afterEach(() => database.close());

  const checkpoint = () => database.run("PRAGMA wal_checkpoint(PASSIVE)");

  /** The check reads the file only if its time has changed, so every call gives it another time. */
  let seconds = 0;
  function content({ check }: DatabaseCheck): Content {
    seconds += 1;
    utimesSync(files.database, seconds, seconds);
    return check(statSync(files.database));
  }

  test("accepts every epoch that began after the one in the file", () => {
    setEpoch(database, "first");
    checkpoint();
    const check = createDatabaseCheck(files, database);
    setEpoch(database, "second");
    checkpoint();
    setEpoch(database, "third");
    expect(content(check)).toBe("ours");
    checkpoint();
    expect(content(check)).toBe("ours");
  });

  test("rejects a file of an earlier epoch, though its ledger ends at the same row", () => {
    setEpoch(database, "first");
    checkpoint();
    const older = readFileSync(files.database);
    setEpoch(database, "second");
    checkpoint();
    const check = createDatabaseCheck(files, database);
    expect(content(check)).toBe("ours");
    overwrite(files.database, older);
    expect(content(check)).toBe("foreign");
  });

  test("rejects a file of an unknown epoch", () => {
    setEpoch(database, "first");
    checkpoint();
    const check = createDatabaseCheck(files, database);
    const bytes = readFileSync(files.database);
    bytes.write("other", bytes.indexOf("first", bytes.indexOf("production")));
    overwrite(files.database, bytes);
    expect(content(check)).toBe("foreign");
  });
});
