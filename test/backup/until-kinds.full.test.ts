import { afterAll, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { readConfig } from "../../src/config.ts";
import { isInHistory } from "../../src/domain/ledger/epochs.ts";
import type { Webhook } from "../../src/domain/webhooks/webhook.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock } from "../support/clock.ts";
import { startObjectStorage } from "../support/object-storage.ts";
import { openWorkspace } from "../support/process.ts";
import { createKey, importPets, verifyStore, withStoreAt } from "../support/stocking.ts";
import { setUnit, unitOf } from "../support/units.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { webhookNamed } from "../support/webhooks.ts";

const place = openWorkspace();
afterAll(() => place.leave());
let made = 0;
const fresh = (ending: string) => place.path(`${++made}.${ending}`);
const restore = (...words: string[]) => place.runHere(["restore", ...words]);
const into = (path: string) => ["--database", `sqlite:${path}`];

test("a key that is newer than the backup comes with its rows, and a webhook continues with the moment", async () => {
  const database = `sqlite:${place.path("keys.db")}`;
  await importPets(database, '{"petId":1,"name":"one"}');
  const [older, newer] = [fresh("petstore"), fresh("petstore")];
  await place.json("backup", older, "--database", database);
  const [used, unused] = [
    await createKey(database, { name: "till", plan: "pro" }),
    await createKey(database, { name: "unused", plan: "pro" }),
  ];
  await withStoreAt(database, async ({ inventory, webhooks }) => {
    await inventory.commit([setUnit(1n, 5, { keyId: used.id, requestId: "req_1" })]);
    const cursor = { epoch: "later", seq: 2 };
    await webhooks.addWebhook(webhookNamed("wh_ahead", { cursor }), anEntry);
  });
  await place.json("backup", newer, "--database", database);
  const [joined, cut] = [fresh("db"), fresh("db")];
  expect((await restore(older, "--ledger", newer, ...into(joined))).code).toBe(0);
  await withStoreAt(`sqlite:${joined}`, async ({ keys, inventory }) => {
    expect((await keys.listKeys()).map(({ id }) => id)).toEqual([used.id]);
    expect(await inventory.entriesAfter(null, 9)).toMatchObject([{ quantity: 5, version: 2 }]);
  });
  expect((await restore(newer, "--until", "1", ...into(cut))).code).toBe(0);
  await withStoreAt(`sqlite:${cut}`, async ({ keys, inventory, webhooks }) => {
    const ids = (await keys.listKeys()).map(({ id }) => id);
    expect(ids.toSorted()).toEqual([used.id, unused.id].toSorted());
    const [{ cursor }] = (await webhooks.listWebhooks()) as [Webhook];
    const epochs = await inventory.listEpochs();
    expect(isInHistory(epochs, 1, cursor)).toBe(true);
    expect(cursor.seq).toBe(1);
  });
});

test("a backup with a time that no date has is refused", async () => {
  const database = `sqlite:${place.path("far.db")}`;
  await importPets(database, '{"petId":1,"name":"one"}');
  const clock = { ...createTestClock(9e15), elapsedMs: () => 0 };
  const store = await openOrCreateStore(readConfig({ database }, {}), clock);
  await store.inventory.commit([setUnit(1n, 5, { cause: "console" })]);
  await store.close();
  const [file, path] = [fresh("petstore"), fresh("db")];
  await place.json("backup", file, "--database", database);
  for (const words of [["--until", "2"], ["--dry-run"], ["--until", "2026-11-18"], []]) {
    const refused = await restore(file, ...words, ...into(path));
    expectUsageError(
      refused,
      "ledger row 2: at is 9000000000000000; expected 8640000000000000 at the latest",
    );
  }
  expect(existsSync(path)).toBe(false);
});

test("a warning says that a batch is restored in part", async () => {
  const database = `sqlite:${place.path("batch.db")}`;
  await importPets(database, '{"petId":1,"name":"one"}', '{"petId":2,"name":"two"}');
  const { id: keyId } = await createKey(database, { name: "till", plan: "pro" });
  await withStoreAt(database, ({ inventory }) =>
    inventory.commit([
      { ...unitOf({ petId: 1n }, { petId: 2n }), keyId },
      setUnit(1n, 5, { keyId, requestId: "next" }),
    ]),
  );
  const file = fresh("petstore");
  await place.json("backup", file, "--database", database);
  const warned = async (seq: number) =>
    (await restore(file, "--until", `${seq}`, ...into(fresh("db")))).err.includes(
      `warning: row ${seq} is in the middle of a batch, which is restored in part`,
    );
  expect([await warned(1), await warned(3)]).toEqual([true, true]);
  expect([await warned(2), await warned(4), await warned(5)]).toEqual([false, false, false]);
});

test("the later ledger may be an encrypted backup in a bucket", async () => {
  const storage = await startObjectStorage();
  try {
    writeFileSync(place.path("backup.key"), `${"5a".repeat(32)}\n`, { mode: 0o600 });
    const key = ["--backup-key-file", place.path("backup.key")];
    const run = (...words: string[]) => place.runHere(words, { env: storage.variables });
    const [plain, encrypted] = ["s3://backups/plain.petstore", "s3://backups/encrypted.petstore"];
    const live = `sqlite:${place.path("live.db")}`;
    const [early, database] = [fresh("petstore"), ["--database", live]];
    await importPets(live, '{"petId":1,"name":"one"}');
    await place.json("backup", early, ...database);
    for (const quantity of [2, 3, 4, 5, 6])
      await importPets(live, `{"petId":1,"name":"one","quantity":${quantity}}`);
    expect((await run("backup", plain, ...database)).code).toBe(0);
    expect((await run("backup", encrypted, ...database, ...key)).code).toBe(0);
    for (const words of [[plain], [plain, ...key], [encrypted, ...key]]) {
      const path = fresh("db");
      const until = ["--until", "5", "--ledger", ...words];
      expect((await run("restore", early, ...until, ...into(path))).code).toBe(0);
      expect(await verifyStore(`sqlite:${path}`)).toMatchObject({ seq: 5, faultCount: 0 });
    }
    const path = fresh("db");
    for (const words of [[encrypted], ["s3://backups/nothing.petstore"]]) {
      const refused = await run("restore", early, "--ledger", ...words, ...into(path));
      expectUsageError(refused, words[0]!);
    }
    storage.fault = ({ query, method }) =>
      method === "GET" && !query.has("list-type")
        ? { status: 403, code: "AccessDenied" }
        : undefined;
    expectUsageError(
      await run("restore", early, "--ledger", plain, ...into(path)),
      "lack the right",
    );
    expect(existsSync(path)).toBe(false);
  } finally {
    storage.stop();
  }
});

test("a pet whose barcode another pet of the backup has comes without it", async () => {
  const database = `sqlite:${place.path("barcodes.db")}`;
  await importPets(database, '{"petId":1,"name":"one","barcode":"111"}');
  const [older, path] = [fresh("petstore"), fresh("db")];
  await place.json("backup", older, "--database", database);
  await importPets(database, '{"petId":1,"name":"one","barcode":"222"}');
  await importPets(database, '{"petId":2,"name":"two","barcode":"111"}');
  await importPets(database, '{"petId":3,"name":"three","barcode":"333"}');
  const restored = await restore(older, "--ledger", database, ...into(path));
  expect(restored).toMatchObject({ code: 0, err: expect.not.stringContaining("name lost") });
  await withStoreAt(`sqlite:${path}`, async ({ catalogue }) => {
    const pets = await catalogue.petsAfter(null, 9);
    expect(pets.map(({ name, barcode }) => [name, barcode])).toEqual([
      ["one", "111"],
      ["two", null],
      ["three", "333"],
    ]);
  });
});
