import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createTestClock } from "../support/clock.ts";
import { examineStore, findingsOf } from "../support/doctor.ts";
import { sampleOf, scrape } from "../support/metrics.ts";
import { openWorkspace } from "../support/process.ts";
import { startTestService, surfaceEngine } from "../support/service.ts";
import { createKey, importPets } from "../support/stocking.ts";
import { until } from "../support/until.ts";

const place = openWorkspace();
afterAll(() => place.leave());

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

test(`${surfaceEngine}: backups with ledger rows that the store does not have are never removed, and are logged, counted and found by doctor`, async () => {
  const folder = place.path("backups");
  const old = ["20261110T100000Z", "20261111T100000Z", "20261112T100000Z"].map(
    (time) => `production-${time}.petstore`,
  );
  const program = [process.execPath, resolve(import.meta.dir, "../../src/main.ts")];
  const flags = { "backup-keep": "1", "backup-folder": folder, "metrics-port": "0" };
  const clock = createTestClock();
  // An empty store. The backups of the lost one come into its folder later.
  const service = await startTestService(
    surfaceEngine,
    flags,
    { backupEveryMs: 400 },
    { program, clock },
  );
  const { logged } = service;
  const count = (event: string) => logged.filter((line) => line.includes(`"${event}"`)).length;
  const read = async () => sampleOf(await scrape(service.metricsUrl), "petstore_backups_ahead");
  await until(() => count("backup made") === 1, 20_000, "the first backup");
  const before = await read();
  for (const name of old) makeBackup(folder, name);
  for (let turn = 2; turn <= 3; turn++) {
    clock.advance(10_000);
    await until(() => count("backup made") === turn, 20_000, "the next backup");
  }
  // Of the store's own backups, one is kept.
  const kept = readdirSync(folder).sort();
  expect(kept.length).toBe(4);
  expect(kept.slice(0, 3)).toEqual(old);
  expect([before, await read()]).toEqual([0, 3]);
  const ahead = logged.filter((line) => line.includes("backups ahead of the store"));
  expect(ahead.map((line) => JSON.parse(line))).toEqual([
    { event: "backups ahead of the store", files: 3, newest: join(folder, old[2]!) },
  ]);
  const database = service.databaseUrl;
  const findings = await examineStore(database, { "backup-folder": folder });
  const [finding] = findingsOf(findings, "backups ahead");
  expect(finding).toMatchObject({
    result: "problem",
    found: `Backups with changes that the store does not have: 3. The newest is ${join(folder, old[2]!)}.`,
  });
  await service.restart();
  await until(() => count("backups ahead of the store") === 2, 20_000, "the log of a start");
  await service.stop();
});
