import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import type { LedgerRow } from "../../src/domain/ledger/ledger.ts";
import { openWorkspace } from "../support/process.ts";
import { runs } from "../support/properties/runs.ts";
import { foldedAt } from "../support/snapshots.ts";
import { createKey, importPets, verifyStore, withStoreAt } from "../support/stocking.ts";
import { setUnit } from "../support/units.ts";

const place = openWorkspace();
afterAll(() => place.leave());
let made = 0;
const fresh = (ending: string) => place.path(`${++made}.${ending}`);

/** A store with a backup at row 300, and its ledger up to row 600. A key and pet 9 are newer than the backup. */
const backup = place.path("some.petstore");
const live = place.path("live.db");
const pageBytes = 4_096;
let ledger: readonly LedgerRow[];
let bytes: Buffer;
const rootPages: Record<string, number> = {};
beforeAll(async () => {
  const database = `sqlite:${live}`;
  async function commitUpTo(last: number, name: string): Promise<void> {
    const { id: keyId } = await createKey(database, { name, plan: "pro" });
    await withStoreAt(database, async ({ inventory, history }) => {
      for (let { seq } = await history.readTip(); ++seq <= last; ) {
        await inventory.commit([setUnit(1n, seq, { keyId, requestId: `request ${seq}.` })]);
      }
    });
  }
  await importPets(database, '{"petId":1,"name":"one"}');
  await commitUpTo(300, "older");
  await place.json("backup", backup, "--database", database);
  await importPets(database, '{"petId":9,"name":"nine","tags":["a tag"]}');
  await commitUpTo(600, "newer");
  await withStoreAt(database, async ({ inventory }) => {
    ledger = await inventory.ledgerAfter(0, 1_000);
  });
  bytes = readFileSync(live);
  using file = new Database(live, { readonly: true });
  for (const [name, page] of file.query("SELECT name, rootpage FROM sqlite_schema").values()) {
    rootPages[name as string] = (page as number) - 1;
  }
});

/** Restores with the ledger of a damaged file. Returns the number of rows, which must be the true ones. */
async function rowsFrom(damaged: Buffer): Promise<{ rows: number; err: string; path: string }> {
  const [broken, path] = [fresh("db"), fresh("db")];
  writeFileSync(broken, damaged);
  const words = ["restore", backup, "--ledger", `sqlite:${broken}`, "--database", `sqlite:${path}`];
  const { code, err } = await place.runHere(words);
  expect(readFileSync(broken).equals(damaged)).toBe(true);
  if (code !== 0) {
    expect({ code, isThere: existsSync(path) }).toEqual({ code: 2, isThere: false });
    return { rows: 0, err, path };
  }
  const { seq: rows, faultCount } = await verifyStore(`sqlite:${path}`);
  await withStoreAt(`sqlite:${path}`, async ({ inventory }) => {
    expect(await inventory.ledgerAfter(0, 1_000)).toEqual(ledger.slice(0, rows));
    expect(await inventory.entriesAfter(null, 9)).toEqual(foldedAt(ledger, rows));
  });
  expect(faultCount).toBe(0);
  return { rows, err, path };
}

/** A copy of the file in which pages are overwritten. */
function withoutPages(...pages: readonly number[]): Buffer {
  const damaged = Buffer.from(bytes);
  for (const page of pages) damaged.fill(0xff, page * pageBytes, (page + 1) * pageBytes);
  return damaged;
}

const pageOf = (text: string) => Math.floor(bytes.indexOf(text) / pageBytes);

test("of a damaged ledger, all rows up to the damage are restored, whatever is damaged before the backup ends", async () => {
  expect(await rowsFrom(withoutPages(pageOf("request 50.")))).toMatchObject({ rows: 600 });
  const { rows, err } = await rowsFrom(withoutPages(pageOf("request 500.")));
  expect(rows).toBeGreaterThan(470);
  expect(rows).toBeLessThan(500);
  expect(err).toContain("ledger cannot be read to its end");
  expect(err).toContain(`rows 1 to ${rows} can be reached`);
});

test("a file whose end is missing gives its rows once it is long enough", async () => {
  const cut = bytes.subarray(
    0,
    Math.max(pageOf("request 400."), pageOf("request 401.")) * pageBytes,
  );
  expect(await rowsFrom(cut)).toMatchObject({ rows: 0, err: expect.stringContaining("malformed") });
  const { rows } = await rowsFrom(Buffer.concat([cut, Buffer.alloc(bytes.length - cut.length)]));
  expect(rows).toBeGreaterThan(350);
  expect(rows).toBeLessThan(401);
});

test("without its other tables, a ledger is restored with pets and keys that say what is lost", async () => {
  const { pets, keys, secrets, epochs, remembered_keys: remembered } = rootPages;
  for (const lost of [[keys!], [secrets!], [pets!, keys!, secrets!, epochs!, remembered!]]) {
    const { rows, path } = await rowsFrom(withoutPages(...lost));
    expect(rows).toBe(600);
    await withStoreAt(`sqlite:${path}`, async (store) => {
      const key = (await store.keys.listKeys()).find(({ name }) => name !== "older");
      const isKept = !lost.includes(keys!);
      expect(key).toMatchObject({ name: isKept ? "newer" : "Key (lost)" });
      expect(key!.revokedAt === null).toBe(isKept);
      const [, pet] = await store.catalogue.petsAfter(null, 9);
      expect(pet!.name).toBe(lost.includes(pets!) ? "Pet 9 (name lost)" : "nine");
    });
  }
});

test("a pet with values that no pet has is one whose name is lost", async () => {
  const damaged = Buffer.from(bytes);
  damaged.write('["a tag"', bytes.indexOf('["a tag"') + 1);
  const { rows, err } = await rowsFrom(damaged);
  expect(rows).toBe(600);
  expect(err).toContain("1 pet got the name");
});

test("whatever bytes are damaged, the rows are true ones or nothing is restored", async () => {
  let restored = 0;
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      const damaged = Buffer.from(bytes);
      for (const [at, value] of changes) damaged[at] = value;
      const { rows } = await rowsFrom(damaged);
      if (rows > 300) restored += 1;
    }),
    runs(12),
  );
  expect(restored).toBeGreaterThan(2);
});
