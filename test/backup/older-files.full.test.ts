import { afterAll, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { resolve } from "node:path";
import { inventory, ledger, pets } from "../fixtures/expected.ts";
import { readParts, writeParts } from "../support/backup-files.ts";
import { migratedDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { readKeys, readLedger, readRows, restore } from "../support/release-stores.ts";
import { type Engine, startTestService, surfaceEngine } from "../support/service.ts";
import { verifyStore, withStoreAt } from "../support/stocking.ts";

const place = openWorkspace();
afterAll(() => place.leave());

// Copies: a restore to a database server works in a folder beside the file.
const fileOf = (release: string) => place.path(`backup-${release}.petstore`);
const releases = ["0.6.0", "0.9.0", "0.13.0"];
for (const release of releases) {
  const name = `../fixtures/backup-${release}.petstore`;
  copyFileSync(resolve(import.meta.dir, name), fileOf(release));
}

const targets: Record<Engine, (release: string) => Promise<string>> = {
  sqlite: async (release) => `sqlite:${place.path(`restored-${release}.db`)}`,
  postgres: () => migratedDatabase(),
};

const pointsOf = (database: string) =>
  readRows(database, "SELECT * FROM usage_points ORDER BY key_id, step, start");

const engine = surfaceEngine;
test.each(releases)(
  `a backup of %s is restored to ${engine} with everything in it, and works`,
  async (release) => {
    const database = await targets[engine](release);
    const { code } = await place.runHere(["restore", fileOf(release), "--database", database]);
    expect(code).toBe(0);
    const sound = { rows: 12, entries: 6, pets: 6, faultCount: 0 };
    expect(await verifyStore(database)).toMatchObject(sound);
    expect(await readLedger(database)).toEqual(ledger);
    await withStoreAt(database, async ({ catalogue, audit }) => {
      expect(await catalogue.petsAfter(null, 9)).toMatchObject(pets);
      expect(await audit.listEntries({}, 9)).toHaveLength(release === "0.6.0" ? 0 : 9);
    });
    if (release === "0.6.0") expect(await pointsOf(database)).toEqual([]);
    else {
      // The same as in the store that the backup was made of, after its migration.
      const original = await restore.sqlite(release, place);
      await verifyStore(original);
      const points = await pointsOf(original);
      expect(points.length).toBeGreaterThan(9);
      expect(await pointsOf(database)).toEqual(points);
    }
    const service = await startTestService(engine, { database });
    const key = readKeys(release, "sqlite").keys["all scopes"]!.texts[0]!;
    const list = await service.call("GET", "/inventory", { key });
    expect(list.text).toBe(`[${inventory.join()}]`);
    const body = '{"quantity":1}';
    expect((await service.call("PATCH", "/inventory/1", { key, body })).status).toBe(200);
    await service.stop();
    expect(await verifyStore(database)).toMatchObject({ ...sound, rows: 13 });
  },
);

test("a backup of an earlier version lacks only tables that were added since", async () => {
  const parts = readParts(fileOf("0.6.0"));
  const { orders: _, ...rows } = parts.manifest.rows as Record<string, number>;
  const other = place.path("other.petstore");
  writeParts(other, { ...parts, manifest: { ...parts.manifest, rows } });
  const database = `sqlite:${place.path("none.db")}`;
  const { code, err } = await place.runHere(["restore", other, "--database", database]);
  expect(code).toBe(2);
  expect(err).toContain("was made by petstore 0.6.0, whose tables differ");
});

test("a backup may lack the last columns of pets, which then have the value of a new pet", async () => {
  const parts = readParts(fileOf("0.6.0"));
  const start = parts.lines.findIndex((line) => line.startsWith('{"table":"pets"'));
  const end = parts.lines.findIndex((line) => line.startsWith('{"end":"pets"'));
  const lines = parts.lines.map((line, at) => {
    if (at === start) return line.replace(',"photo_urls"', "");
    return start < at && at < end ? line.replace(/,"(?:[^"\\]|\\.)*"\]$/, "]") : line;
  });
  const earlier = place.path("earlier.petstore");
  writeParts(earlier, { ...parts, lines });
  const database = `sqlite:${place.path("earlier.db")}`;
  expect((await place.runHere(["restore", earlier, "--database", database])).code).toBe(0);
  expect(await verifyStore(database)).toMatchObject({ pets: 6, faultCount: 0 });
  await withStoreAt(database, async ({ catalogue }) => {
    const expected = pets.map((pet) => ({ ...pet, photoUrls: [] }));
    expect(await catalogue.petsAfter(null, 9)).toMatchObject(expected);
  });
});
