import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { importPets } from "../support/stocking.ts";
import { hashesOf } from "../support/stored-rows.ts";
import { expectUsageError } from "../support/usage-errors.ts";

let place: Workspace;
beforeEach(async () => {
  place = openWorkspace();
  const stdin = '{"petId":1,"name":"Rex","quantity":3}\n{"petId":2,"name":"Luna"}\n';
  await importPets(`sqlite:${place.path("data/production.db")}`, stdin);
});
afterEach(() => place.leave());

/** Changes the database directly, as a faulty disk or an operator with SQL could. */
function tamper(...statements: string[]): void {
  const database = new Database(place.path("data/production.db"));
  for (const statement of statements) database.run(statement);
  database.close();
}

const sound = { rows: 2, entries: 2, pets: 2, seq: 2, faults: [], faultCount: 0 };
const stored = () => hashesOf(`sqlite:${place.path("data/production.db")}`);

test("a consistent store gives exit code 0, and the hash of its last row to keep", async () => {
  const [, , hash] = await stored();
  expect(await place.runHere(["verify"])).toEqual({
    code: 0,
    out: `No faults found in 2 ledger rows, 2 entries, 2 pets.\nThe ledger ends at 2:${hash}\n`,
    err: "",
  });
  expect(await place.json<unknown>("verify")).toEqual({ ...sound, hash });
});

test("--expect accepts the hash of any row from 0 to the last, in upper or lower case", async () => {
  const hashes = await stored();
  expect(hashes).toHaveLength(3);
  for (const [seq, hash] of hashes.entries()) {
    for (const text of [hash, hash.toUpperCase()]) {
      expect(await place.runHere(["verify", "--expect", `${seq}:${text}`])).toMatchObject({
        code: 0,
      });
    }
  }
});

test("--expect reports another hash in one line, with exit code 1", async () => {
  const hashes = await stored();
  const expected = "ab".repeat(32);
  for (const [seq, hash] of hashes.entries()) {
    const fault = `ledger row ${seq}: its hash is ${hash}; expected ${expected}, the hash that was given`;
    const counts = "1 fault found in 2 ledger rows, 2 entries, 2 pets.";
    const words = ["verify", "--expect", `${seq}:${expected}`];
    expect(await place.runHere(words)).toEqual({ code: 1, out: `${fault}\n${counts}\n`, err: "" });
    const { code, out } = await place.runHere([...words, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ faults: [fault], faultCount: 1 });
  }
});

test("--expect of a row past the end says where the ledger ends, with exit code 1", async () => {
  const hash = "ab".repeat(32);
  const { code, out } = await place.runHere(["verify", "--expect", `3:${hash}`]);
  expect(code).toBe(1);
  expect(out).toStartWith(`ledger row 3: the ledger ends at 2; expected ${hash}\n`);
});

test("--expect rejects what is not a row and a hash, with exit code 2", async () => {
  const hash = "ab".repeat(32);
  const wrong = ["", "1", hash, `1:${hash}0`, `1:${hash.slice(1)}`, `x:${hash}`, `1.5:${hash}`];
  for (const text of [...wrong, `9007199254740992:${hash}`, `1:${"xy".repeat(32)}`, `1:${hash} `]) {
    const ran = await place.runHere(["verify", `--expect=${text}`]);
    expectUsageError(ran, "--expect must be SEQ:HASH");
  }
});

const wrongs: [name: string, statements: string[], fault: string][] = [
  [
    "an entry that changed without a ledger row",
    ["UPDATE inventory SET quantity = 4 WHERE pet_id = 1"],
    "entry of pet 1: 4 available; expected 3 available: row 1 left that",
  ],
  [
    "an entry that was removed",
    ["DELETE FROM inventory WHERE pet_id = 2"],
    "pet 2: has no entry; expected 0 available, as row 2 left it",
  ],
  [
    "a pet without an entry",
    ["INSERT INTO pets (pet_id, name, tags, photo_urls) VALUES (3, 'Coco', '[]', '[]')"],
    "pet 3: has no entry; expected one",
  ],
  [
    "an entry without a pet",
    ["PRAGMA foreign_keys = OFF", "DELETE FROM pets WHERE pet_id = 2"],
    "entry of pet 2: there is no such pet; expected a pet",
  ],
  [
    "a store whose ledger and inventory were wiped while pets remain",
    [
      "DROP TRIGGER ledger_rows_remain",
      "DELETE FROM ledger",
      "DELETE FROM inventory",
      "UPDATE head SET seq = 0, at = 0",
    ],
    "pet 1: has no entry; expected one",
  ],
  [
    "a head that is ahead of its ledger",
    ["UPDATE head SET seq = 3"],
    "the head: seq is 3; expected 2, the last ledger row",
  ],
  [
    "a head whose time is not the ledger's",
    ["UPDATE head SET at = 7"],
    "the head: at is 7; expected ",
  ],
  [
    "a ledger row that was taken out",
    ["DROP TRIGGER ledger_rows_remain", "DELETE FROM ledger WHERE seq = 1"],
    "ledger row 2: comes after row 0; expected row 1 there",
  ],
  [
    "a ledger row that is older than the one before it",
    ["DROP TRIGGER ledger_rows_stay", "UPDATE ledger SET at = 7 WHERE seq = 2"],
    "ledger row 2: at is 7; expected ",
  ],
  [
    "a ledger row that was rewritten",
    ["DROP TRIGGER ledger_rows_stay", "UPDATE ledger SET quantity_before = 1 WHERE seq = 2"],
    "ledger row 2: before is 1 null; expected nothing: pet 2 had no row",
  ],
  [
    "a ledger that lost a trigger",
    ["DROP TRIGGER ledger_rows_stay"],
    "trigger ledger_rows_stay: is missing; expected its definition in this version of petstore",
  ],
  [
    "a trigger that was added",
    ["CREATE TRIGGER more AFTER UPDATE ON pets BEGIN DELETE FROM orders; END"],
    "trigger more: was added; expected none with this name",
  ],
  [
    "a view that was added",
    ["CREATE VIEW more AS SELECT 1"],
    "view more: was added; expected none with this name",
  ],
  [
    "a table that was altered",
    ["ALTER TABLE inventory ADD COLUMN shelf TEXT"],
    "table inventory: was altered; expected its definition in this version of petstore",
  ],
];
for (const [name, statements, fault] of wrongs) {
  test(`${name} is reported with exit code 1`, async () => {
    tamper(...statements);
    const found = await place.runHere(["verify"]);
    expect(found.code).toBe(1);
    expect(found.out).toContain(fault);
    expect(found.out).toMatch(/\n\d+ faults? found in \d+ ledger rows, \d entries, \d pets\.\n$/);
    expect(found.err).toBe("");
    const asJson = await place.runHere(["verify", "--json"]);
    expect(asJson.code).toBe(1);
    const { faults } = JSON.parse(asJson.out) as { faults: string[] };
    expect(faults.some((line) => line.startsWith(fault))).toBe(true);
  });
}

test("of many faults the first twenty are printed and all are counted", async () => {
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1009)";
  tamper(
    `INSERT INTO pets (pet_id, name, tags, photo_urls) ${numbers} SELECT i, 'x', '[]', '[]' FROM n`,
  );
  const { code, out } = await place.runHere(["verify"]);
  expect(code).toBe(1);
  const lines = out.trimEnd().split("\n");
  expect(lines).toHaveLength(21);
  expect(lines[19]).toBe("pet 29: has no entry; expected one");
  expect(lines[20]).toStartWith("1000 faults found (the first 20 are shown) in 2 ledger rows");
});

test("a file with a damaged page is reported as damaged, with exit code 1", async () => {
  const many = Array.from({ length: 5_000 }, (_, at) => `{"petId":${at + 10},"name":"p"}`);
  await place.runHere(["pets", "import", "-"], { stdin: many.join("\n") });
  tamper("PRAGMA wal_checkpoint(TRUNCATE)");
  const file = openSync(place.path("data/production.db"), "r+");
  const page = 4_096;
  const pages = fstatSync(file).size / page;
  // The first pages contain the schema. Without it the file cannot be opened.
  for (let at = 30; at < pages; at += 7)
    writeSync(file, Buffer.alloc(page, 0xa5), 0, page, at * page);
  closeSync(file);
  const { code, out, err } = await place.runHere(["verify"]);
  expect(err).toBe("");
  expect(out).toMatch(/^the file: .+; expected no damage\n/);
  expect(code).toBe(1);
});

test("a store without its head row is rejected with one error", async () => {
  tamper("DELETE FROM head");
  expectUsageError(
    await place.runHere(["verify"]),
    "the database has no head row; restore a backup",
  );
});
