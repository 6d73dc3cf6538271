import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createTestClock } from "../support/clock.ts";
import { openWorkspace } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const dayMs = 86_400_000;
const place = openWorkspace();
afterAll(() => place.leave());

test("a service keeps the newest of its own backups, and only those that it made", async () => {
  const program = [process.execPath, resolve(import.meta.dir, "../../src/main.ts")];
  const folder = place.path("backups");
  const flags = { "backup-every": "1h", "backup-keep": "2", "backup-folder": folder };
  const clock = createTestClock();
  const foreign = [
    "staging-20200101T000000Z.petstore",
    "production-20200101T000000Z.petstore.old",
    "production-monday.petstore",
    ".production-20991231T000000Z.petstore.00000000-0000-0000-0000-000000000000.tmp",
  ];
  const abandoned =
    ".production-20200101T000000Z.petstore.00000000-0000-0000-0000-000000000000.tmp";
  const service = await startTestService(
    "sqlite",
    flags,
    { backupEveryMs: 400 },
    { program, clock },
  );
  const { logged } = service;
  const eventsOf = (event: string) => logged.filter((line) => line.includes(`"${event}"`));
  await until(() => eventsOf("backup made").length === 1, 20_000, "the first backup");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of [...foreign, abandoned]) writeFileSync(join(folder, name), "");
  mkdirSync(join(folder, "production-20200101T000000Z.petstore"));
  // A file is in the place of the folder.
  renameSync(folder, `${folder}-moved`);
  writeFileSync(folder, "");
  clock.advance(10_000);
  await until(() => eventsOf("backup failed").length === 1, 20_000, "the failure");
  renameSync(folder, `${folder}-file`);
  renameSync(`${folder}-moved`, folder);
  chmodSync(folder, 0o700);
  for (let count = 2; count <= 4; count++) {
    clock.advance(10_000);
    await until(() => eventsOf("backup made").length === count, 20_000, "the next backup");
  }
  expect(JSON.parse(eventsOf("backup made")[1]!)).toMatchObject({ failures: 1, removed: 0 });
  const times = ["20261115T120030Z", "20261115T120040Z"];
  const own = times.map((time) => `production-${time}.petstore`);
  const other = [...foreign, "production-20200101T000000Z.petstore"];
  expect(readdirSync(folder).sort()).toEqual([...own, ...other].sort());
  for (const name of own) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect((await service.call("GET", "~/readyz")).status).toBe(200);
  // The clock is set back by a day. The newest backup now has the earliest name.
  clock.advance(-dayMs);
  await until(
    () => eventsOf("backup made").length === 5,
    20_000,
    "a backup by the corrected clock",
  );
  const latest = "production-20261114T120040Z.petstore";
  const kept = readdirSync(folder).filter((name) => /^production-2026/.test(name));
  expect(kept.sort()).toEqual([latest, own[1]!]);
  // The next one takes the place of the one whose name is in the future.
  clock.advance(10_000);
  await until(() => eventsOf("backup made").length === 6, 20_000, "the next backup");
  const later = "production-20261114T120050Z.petstore";
  expect(
    readdirSync(folder)
      .filter((name) => /^production-2026/.test(name))
      .sort(),
  ).toEqual([latest, later]);
  await service.stop();
});
