import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { readParts, writeParts } from "../support/backup-files.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { createStore, importPets, verifyStore, withStoreAt } from "../support/stocking.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace();
afterAll(() => place.leave());
let made = 0;
const fresh = (ending: string) => place.path(`${++made}.${ending}`);

/** A store with a backup after its first rows, and one after its last: rows 1 to 3, and up to 6. */
const early = place.path("early.petstore");
const late = place.path("late.petstore");
const live = place.path("live.db");
const times: number[] = [];
beforeAll(async () => {
  const database = `sqlite:${live}`;
  await importPets(
    database,
    '{"petId":1,"name":"one","barcode":"111"}',
    '{"petId":2,"name":"two"}',
  );
  await importPets(database, '{"petId":1,"name":"one","quantity":5}');
  await place.json("backup", early, "--database", database);
  await importPets(database, '{"petId":3,"name":"three","quantity":3}');
  await importPets(database, '{"petId":2,"name":"second","quantity":7}');
  await importPets(database, '{"petId":1,"name":"one","quantity":9}');
  await place.json("backup", late, "--database", database);
  await withStoreAt(database, async ({ inventory }) => {
    for (const { at } of await inventory.ledgerAfter(0, 9)) times.push(at);
  });
});

const restore = (...words: string[]) => place.runHere(["restore", ...words]);
const into = (path: string) => ["--database", `sqlite:${path}`];

test("the command says what it can reach, and ends at the moment on both engines, in a new epoch", async () => {
  const dry = await restore(late, "--dry-run");
  expect(dry).toMatchObject({ code: 0, err: "" });
  const first = new Date(times[0]!).toISOString();
  expect(dry.out).toStartWith(`rows 1 to 6 can be reached, ${first} to `);
  expect((await restore(early, "--dry-run")).out).toStartWith("rows 1 to 3 can be reached");
  const joined = await restore(early, "--ledger", late, "--dry-run");
  expect(joined.out).toStartWith("rows 1 to 6 can be reached");
  expect(readdirSync(place.folder).filter((name) => name.includes("scratch"))).toEqual([]);
  const epochs = await withStoreAt(`sqlite:${live}`, async ({ inventory }) =>
    inventory.listEpochs(),
  );
  for (const database of [`sqlite:${fresh("db")}`, await createdDatabase()]) {
    const time = new Date(times[4]!).toISOString();
    const words = [early, "--ledger", `sqlite:${live}`, "--until", time, "--database", database];
    const restored = await restore(...words);
    expect(restored.code).toBe(0);
    expect(restored.err).toContain("rows 1 to 6 can be reached");
    expect(restored.err).toContain("the rest is as the backup of");
    expect(await verifyStore(database)).toMatchObject({ rows: 5, entries: 3, faultCount: 0 });
    const asLedger = await restore(early, "--ledger", database, "--dry-run");
    expect(asLedger.out).toStartWith("rows 1 to 5 can be reached");
    await withStoreAt(database, async ({ inventory, catalogue }) => {
      // The name of a pet is that of the backup, or of the later ledger if only that has the pet.
      const pets = await catalogue.petsAfter(null, 9);
      const shown = pets.map(({ name, quantity }) => [name, quantity]);
      expect(shown).toEqual([
        ["one", 5],
        ["two", 7],
        ["three", 3],
      ]);
      const { epoch } = await inventory.readHead();
      expect(epochs.map((one) => one.epoch)).not.toContain(epoch);
    });
  }
});

test("a pet that was removed before the backup has its stock and a name that says so", async () => {
  const database = `sqlite:${place.path("removed.db")}`;
  await importPets(database, '{"petId":7,"name":"seven","quantity":4}', '{"petId":8,"name":"8"}');
  await withStoreAt(database, ({ catalogue }) =>
    catalogue.removePet(7n, undefined, {
      cause: "undo",
      keyId: null,
      requestId: null,
      reason: null,
    }),
  );
  const file = fresh("petstore");
  await place.json("backup", file, "--database", database);
  const path = fresh("db");
  const restored = await restore(file, "--until", "2", ...into(path));
  expect(restored).toMatchObject({ code: 0 });
  expect(restored.err).toContain("1 pet got the name 'Pet ID (name lost)'");
  await withStoreAt(`sqlite:${path}`, async ({ catalogue }) => {
    const [pet] = await catalogue.petsAfter(null, 1);
    expect(pet).toMatchObject({ petId: 7n, name: "Pet 7 (name lost)", quantity: 4 });
  });
});

test("a forged, gapped, earlier or foreign ledger is refused with the row, and nothing is restored", async () => {
  const bad = place.path("bad.petstore");
  const path = fresh("db");
  const refused = async (message: string, ...words: string[]) => {
    expectUsageError(await restore(early, ...words, ...into(path)), message);
    expect(existsSync(path)).toBe(false);
  };
  const change = (edit: (lines: string[], at: number) => void) => {
    const parts = readParts(late);
    edit(
      parts.lines,
      parts.lines.findIndex((line) => line.startsWith('{"table":"ledger"')),
    );
    const rows = { ...(parts.manifest.rows as object), ledger: countLedger(parts.lines) };
    writeParts(bad, { ...parts, manifest: { ...parts.manifest, rows } });
  };
  change((lines, at) => {
    lines[at + 5] = lines[at + 5]!.replace(",7,", ",8,");
  });
  const forged = `row 5 of ${bad} is missing or does not continue row 4`;
  const dry = await restore(early, "--ledger", bad, "--dry-run");
  expect(dry.out).toContain("rows 1 to 4 can be reached");
  expect(dry.out).toContain(forged);
  await refused(`cannot reach 5: rows 1 to 4 can be reached`, "--ledger", bad, "--until", "5");
  // Rows before it are good.
  const good = fresh("db");
  expect((await restore(early, "--ledger", bad, "--until", "4", ...into(good))).code).toBe(0);
  change((lines, at) => {
    lines.splice(at + 5, 1);
    const end = lines.findIndex((line) => line.startsWith('{"end":"ledger"'));
    lines[end] = '{"end":"ledger","rows":5}';
  });
  expect((await restore(early, "--ledger", bad, "--dry-run")).out).toContain(
    `rows 1 to 4 can be reached`,
  );
  expect((await restore(early, "--ledger", bad, "--dry-run")).out).toContain("row 5 of");
  const foreign = `sqlite:${place.path("foreign.db")}`;
  for (const id of [1, 2, 3, 4]) await importPets(foreign, `{"petId":${id},"name":"other"}`);
  await refused(
    "does not have the last row of the backup, 3:",
    "--ledger",
    foreign,
    "--until",
    "4",
  );
  const shorter = await restore(late, "--ledger", early, "--dry-run");
  expectUsageError(shorter, `${early} does not have the last row of the backup, 6:`);
  await refused(
    "cannot reach 2099-01-01T00:00:00Z: rows 1 to 3",
    "--until",
    "2099-01-01T00:00:00Z",
  );
  await refused("--until must be", "--until", "yesterday");
  await refused("cannot open the store", "--ledger", "sqlite:nowhere.db");
  await refused("no such file", "--ledger", "nowhere.petstore");
});

function countLedger(lines: readonly string[]): number {
  const from = lines.findIndex((line) => line.startsWith('{"table":"ledger"'));
  return lines.findIndex((line) => line.startsWith('{"end":"ledger"')) - from - 1;
}

test("moments out of reach get the moments that can be reached, also as JSON", async () => {
  const dry = await place.json("restore", early, "--ledger", late, "--dry-run");
  const [from, to] = [times[0]!, times[5]!].map((time) => new Date(time).toISOString());
  expect(dry).toEqual({ file: early, fromSeq: 1, toSeq: 6, from, to: expect.any(String) });
  expect(String(dry.to) >= to!).toBe(true);
  const path = fresh("db");
  for (const moment of ["0", "7", "1969-12-31T23:59:59Z", "2024-02-29", "9999-12-31"]) {
    const refused = await restore(late, "--until", moment, ...into(path));
    expectUsageError(refused, `cannot reach ${moment}: rows 1 to 6 can be reached, ${from} to `);
    expect(refused.err).not.toContain("1970");
  }
  expectUsageError(await restore(late, "--until", "2026-02-29", ...into(path)), "--until must be");
  const empty = fresh("petstore");
  await createStore(`sqlite:${place.path("empty.db")}`);
  await place.json("backup", empty, "--database", `sqlite:${place.path("empty.db")}`);
  expect((await restore(empty, "--dry-run")).out).toBe("the ledger has no rows\n");
  expectUsageError(
    await restore(empty, "--until", "1", ...into(path)),
    "cannot reach 1: the ledger has no rows",
  );
  expect(existsSync(path)).toBe(false);
  // An empty backup continues with any ledger, and a backup with itself.
  expect((await restore(empty, "--ledger", late, "--dry-run")).out).toStartWith("rows 1 to 6");
  expect((await restore(late, "--ledger", late, "--dry-run")).out).toStartWith("rows 1 to 6");
});
