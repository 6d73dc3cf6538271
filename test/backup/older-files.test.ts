import { afterAll, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { resolve } from "node:path";
import { inventory, ledger, pets } from "../fixtures/expected.ts";
import { readParts, writeParts } from "../support/backup-files.ts";
import { migratedDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { readKeys, readLedger } from "../support/release-stores.ts";
import { type Engine, engines, startTestService } from "../support/service.ts";
import { verifyStore, withStoreAt } from "../support/stocking.ts";

const place = openWorkspace();
afterAll(() => place.leave());

// A copy: a restore to a database server works in a folder beside the file.
const file = place.path("backup-0.6.0.petstore");
copyFileSync(resolve(import.meta.dir, "../fixtures/backup-0.6.0.petstore"), file);

const targets: Record<Engine, () => Promise<string>> = {
  sqlite: async () => `sqlite:${place.path("restored.db")}`,
  postgres: () => migratedDatabase(),
};

for (const engine of engines) {
  test(`a backup of 0.6.0 is restored to ${engine} with everything in it, and works`, async () => {
    const database = await targets[engine]();
    const { code } = await place.runHere(["restore", file, "--database", database]);
    expect(code).toBe(0);
    const sound = { rows: 12, entries: 6, pets: 6, faultCount: 0 };
    expect(await verifyStore(database)).toMatchObject(sound);
    expect(await readLedger(database)).toEqual(ledger);
    await withStoreAt(database, async ({ catalogue, audit, usageHistory }) => {
      expect(await catalogue.petsAfter(null, 9)).toMatchObject(pets);
      expect(await audit.listEntries({}, 9)).toEqual([]);
      expect(await usageHistory.readCounts("*", "month", 0)).toEqual([]);
    });
    const service = await startTestService(engine, { database });
    const key = readKeys("0.6.0", "sqlite").keys["all scopes"]!.texts[0]!;
    const list = await service.call("GET", "/inventory", { key });
    expect(list.text).toBe(`[${inventory.join()}]`);
    const body = '{"quantity":1}';
    expect((await service.call("PATCH", "/inventory/1", { key, body })).status).toBe(200);
    await service.stop();
    expect(await verifyStore(database)).toMatchObject({ ...sound, rows: 13 });
  });
}

test("a backup of an earlier version lacks only tables that were added since", async () => {
  const parts = readParts(file);
  const { orders: _, ...rows } = parts.manifest.rows as Record<string, number>;
  const other = place.path("other.petstore");
  writeParts(other, { ...parts, manifest: { ...parts.manifest, rows } });
  const database = `sqlite:${place.path("none.db")}`;
  const { code, err } = await place.runHere(["restore", other, "--database", database]);
  expect(code).toBe(2);
  expect(err).toContain("was made by petstore 0.6.0, whose tables differ");
});
