import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import type { Store } from "../../src/domain/store.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { anEntry } from "../support/audit.ts";
import { pairsOf, startUpdates } from "../support/backup-trial.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { type Engine, engines, startTestService, surfaceEngine } from "../support/service.ts";
import { createKey, importPets, unlimited, verifyStore, withStoreAt } from "../support/stocking.ts";
import { until } from "../support/until.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { webhookNamed } from "../support/webhooks.ts";

const place = openWorkspace();
afterAll(() => place.leave());

interface Made {
  readonly at: string;
  readonly seq: number;
  readonly hash: string;
  readonly rows: Record<string, number>;
}

const pairs = 50;

const targets: Record<Engine, (name: string) => Promise<string>> = {
  sqlite: async (name) => `sqlite:${place.path(`restored/${name}.db`)}`,
  postgres: () => createdDatabase(),
};

/** Every quantity that a pet had. */
async function quantitiesOf({ inventory }: Store): Promise<Set<string>> {
  const rows = await inventory.ledgerAfter(0, 1_000_000);
  return new Set(rows.map(({ petId, after }) => `${petId}:${after?.quantity}`));
}

const engine = surfaceEngine;
test(`a backup of ${engine} under load has everything acknowledged before it, and is restored to the other engine`, async () => {
  const service = await startTestService(engine);
  await service.addPets(...pairsOf(pairs));
  const { text: key } = await service.issueKey({ limits: unlimited });
  const { text: clerk } = await issueOperator(service, "Carl", "production", "clerk");
  const updates = startUpdates(service.baseUrl, key, pairs, 2);
  await until(() => updates.acknowledged.length > 40, 20_000, "updates");
  const file = place.path(`${engine}.petstore`);
  const startedMs = Date.now();
  const words = ["backup", file, "--database", service.databaseUrl, "--json"];
  const made: Made = JSON.parse((await place.run(words)).out);
  const acknowledgedMeanwhile = updates.acknowledged.filter(({ atMs }) => atMs > startedMs);
  await until(() => updates.acknowledged.at(-1)!.atMs > Date.now() - 5, 20_000, "more updates");
  await updates.stop();
  const head = await service.store.inventory.readHead();
  // Updates were neither stopped nor delayed until the end of the backup.
  expect(acknowledgedMeanwhile.length).toBeGreaterThan(0);
  expect(made.seq).toBeLessThan(head.seq);
  const { seq, hash } = made;
  expect(await verifyStore(service.databaseUrl, { seq, hash })).toMatchObject({ faultCount: 0 });
  const records = await service.store.maintenance.listMaintenance();
  expect(records).toMatchObject([{ task: "backup", failedAt: null }]);
  expect(JSON.parse(records[0]!.result!)).toMatchObject({ file, seq, hash });
  await service.stop();

  // Files of both engines have the same format, so each engine restores that of the other.
  for (const target of engines.filter((other) => other !== engine)) {
    const database = await targets[target](`${engine}-to-${target}`);
    const restored = await place.json("restore", file, "--database", database);
    expect(restored).toMatchObject({ at: made.at, seq, hash, rows: made.rows });
    expect(await verifyStore(database, { seq, hash })).toMatchObject({ faultCount: 0, seq });
    const again = await startTestService(target, { database });
    const known = await quantitiesOf(again.store);
    const isKnown = (petId: number, quantity: number) => known.has(`${petId}:${quantity}`);
    for (const { petIds, quantity, atMs } of updates.acknowledged) {
      const [one, other] = petIds;
      // A batch is whole or missing, and only what came after the start may be missing.
      expect(isKnown(one, quantity)).toBe(isKnown(other, quantity));
      if (atMs < startedMs) expect(isKnown(one, quantity)).toBe(true);
    }
    // Clients go on, in another epoch.
    const more = startUpdates(again.baseUrl, key, pairs, 1);
    await until(() => more.acknowledged.length > 2, 20_000, "updates after the restore");
    await more.stop();
    const continued = await again.store.inventory.readHead();
    expect(continued.seq).toBe(seq + 2 * more.acknowledged.length);
    expect(continued.epoch).not.toBe(head.epoch);
    const session = await again.call("GET", "~/admin/session", { key: clerk });
    expect(session.json).toMatchObject({ operator: { name: "Carl", role: "clerk" } });
    await again.stop();
  }
});

test("a restore never replaces a store, and names what is in its place", async () => {
  const database = `sqlite:${place.path("data/production.db")}`;
  await importPets(database, '{"petId":1,"name":"one"}');
  const file = place.path("one.petstore");
  await place.json("backup", file);
  expectUsageError(await place.runHere(["backup", file]), `${file} exists`);
  const path = place.path("data/production.db");
  expectUsageError(await place.runHere(["restore", file]), `${path} exists`);
  const moved = place.path("data/moved.db");
  renameSync(path, moved);
  // A log that was left behind would be applied to the restored file.
  writeFileSync(`${path}-wal`, "rest");
  expectUsageError(await place.runHere(["restore", file]), `${path}-wal exists`);
  const fill: Record<string, (database: string) => Promise<unknown>> = {
    ledger: (other) => importPets(other, '{"petId":2,"name":"two"}'),
    keys: (other) => createKey(other, { name: "there", plan: "pro" }),
    orders: (other) =>
      place.runHere(["orders", "import", "-", "--database", other], {
        stdin: '{"id":1,"petId":2,"quantity":1,"status":"placed"}',
      }),
    webhooks: (other) =>
      withStoreAt(other, ({ webhooks }) => webhooks.addWebhook(webhookNamed("wh_there"), anEntry)),
  };
  for (const [table, addRow] of Object.entries(fill)) {
    const other = await createdDatabase();
    await addRow(other);
    const refused = await place.runHere(["restore", file, "--database", other]);
    expectUsageError(refused, `the database is not empty: ${table} has rows`);
  }
  expect(existsSync(path)).toBe(false);
});

test("a bad backup leaves nothing in place, and a drill of it fails and is recorded", async () => {
  const database = `sqlite:${place.path("drilled.db")}`;
  await importPets(database, '{"petId":1,"name":"one"}');
  const file = place.path("drilled.petstore");
  const onDatabase = ["--database", database];
  await place.json("backup", file, ...onDatabase);
  const good = await place.runHere(["drill", file, ...onDatabase]);
  expect(good).toMatchObject({ code: 0, err: "" });
  expect(good.out).toMatch(/can be restored\. The drill took .*\nThe backup is .* old/);
  const bytes = Buffer.from(await Bun.file(file).bytes());
  bytes[100]! ^= 1;
  const bad = place.path("bad.petstore");
  await Bun.write(bad, bytes);
  const mistyped = await place.runHere(["drill", `${file}x`, ...onDatabase]);
  expect(mistyped).toMatchObject({ code: 2, err: expect.stringContaining("no such file") });
  const failed = await place.runHere(["drill", bad, ...onDatabase]);
  expect(failed).toMatchObject({ code: 1, out: "" });
  expect(failed.err).toContain(`${bad} is damaged: its checksum is wrong`);
  const target = place.path("never/production.db");
  const refused = await place.runHere(["restore", bad, "--database", `sqlite:${target}`]);
  expectUsageError(refused, `${bad} is damaged`);
  expect(readdirSync(place.path("never"))).toEqual([]);
  const records = await withStoreAt(database, (store) => store.maintenance.listMaintenance());
  const drill = records.find(({ task }) => task === "drill")!;
  expect(JSON.parse(drill.result!)).toMatchObject({ file, seq: 1 });
  expect(drill.error).toContain("checksum");
  const elsewhere = await place.runHere(["drill", file, "--database", "sqlite:nowhere.db"]);
  expect(elsewhere.code).toBe(0);
  expect(elsewhere.err).toContain("the drill was not recorded: there is no store");
  expect(readdirSync(place.folder).filter((name) => name.includes("scratch"))).toEqual([]);
});
