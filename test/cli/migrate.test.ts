import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { digestOfTexts } from "../../src/domain/ledger/idempotency.ts";
import type { Store } from "../../src/domain/store.ts";
import type { Webhook } from "../../src/domain/webhooks/webhook.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock } from "../support/clock.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { expectError } from "../support/responses.ts";
import { startTestService } from "../support/service.ts";
import { importPets } from "../support/stocking.ts";
import { setUnit } from "../support/units.ts";
import { fullWebhook, webhookNamed } from "../support/webhooks.ts";

let place: Workspace;
beforeAll(() => {
  place = openWorkspace();
});
afterAll(() => place.leave());

async function withStore<T>(database: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openOrCreateStore(readConfig({ database }, {}), systemClock);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const idempotency = {
  key: digestOfTexts("key"),
  request: digestOfTexts("request"),
  keptMs: 3_600_000,
};

/** Fills every table, with text that is easy to copy wrongly. */
async function fill(database: string): Promise<string> {
  await Bun.write(
    place.path("pets.json"),
    JSON.stringify([
      { petId: 1, name: 'tab\there, "quote", back\\slash', tags: ["a|b", "\n"], quantity: 3 },
      { petId: 2, name: "\\N", category: "NULL", status: "sold" },
      { petId: 3, name: "Ünïcødé 🐢", photoUrls: ["https://example.com/a?b=c"] },
    ]).replace('"petId":3', '"petId":9223372036854775807'),
  );
  await Bun.write(
    place.path("orders.csv"),
    "id,petId,quantity,shipDate,status,complete\n1,1,2,2026-01-01,placed,true\n2,2,1,,approved,false\n",
  );
  const run = async (...words: string[]) =>
    expect(await place.runHere([...words, "--database", database])).toMatchObject({ code: 0 });
  await run("pets", "import", place.path("pets.json"));
  await run("orders", "import", place.path("orders.csv"));
  const words = ["keys", "create", "--name", "k", "--plan", "free", "--json"];
  const { id, key } = await place.json<{ id: string; key: string }>(
    ...words,
    "--database",
    database,
  );
  await run("keys", "rotate", id);
  await withStore(database, async (store) => {
    await store.inventory.commit([
      { ...setUnit(1n, 7, { keyId: id, requestId: "req_1" }), idempotency },
      setUnit(1n, 8, { keyId: id, requestId: "req_2" }),
    ]);
    await store.audit.addEntry({ ...anEntry, target: "made before", once: idempotency });
    const windows = { minuteStart: 60_000, minuteCount: 4, dayStart: 0, dayCount: 9 };
    await store.usage.saveUsage([{ keyId: id, ...windows, lastUsedAt: 61_000 }]);
    const started = Date.now();
    await store.usage.saveBan({
      keyId: id,
      startedAt: started,
      until: started + 3e5,
      liftedAt: null,
    });
  });
  return key;
}

/** Holds a webhook in its store and adds to its log. Neither is copied. */
async function deliver(database: string): Promise<readonly Webhook[]> {
  return withStore(database, async ({ webhooks }) => {
    const cursor = { epoch: "any", seq: 5 };
    await webhooks.addWebhook({ ...fullWebhook, cursor }, anEntry);
    await webhooks.addWebhook(webhookNamed("wh_a"), anEntry);
    await webhooks.claimWebhooks("there", 60_000);
    const progress = { cursor, failures: 1, failingSince: 1, nextAttemptAt: 2 };
    const message = { messageId: "msg", firstSeq: 1, lastSeq: 5, changes: 5 };
    const attempt = { at: 1, ...message, durationMs: 3, status: 500, error: null, answer: "" };
    await webhooks.saveDelivered("there", [
      { id: "wh_a", replays: 0, progress, attempts: [attempt] },
    ]);
    return webhooks.listWebhooks();
  });
}

test("a whole store is copied from SQLite to PostgreSQL and back, with the same hashes, a new epoch and remembered results", async () => {
  const first = `sqlite:${place.path("first.db")}`;
  const key = await fill(first);
  const webhooks = await deliver(first);
  const tip = await withStore(first, async (store) => store.history.readTip());
  const head = await withStore(first, async (store) => store.inventory.readHead());
  const second = await createdDatabase();
  const there = await place.runHere(["migrate-store", "--from", first, "--to", second]);
  expect(there.err).toBe("");
  expect(there.out).toContain(
    `3 pets, 3 inventory, 5 ledger, 0 removed_pets, 1 remembered_keys, 2 orders, 1 keys, 2
    secrets, 1 usage, 3 epochs, 1 bans, 7 audit, 0 usage_points, 2 webhooks, 1
    made`.replace(/\s+/g, " "),
  );
  const verified = await place.runHere(["verify", "--database", second]);
  expect(verified.out).toContain("No faults found");
  const shown = await place.json<{ bannedUntil: string }[]>(
    ...["keys", "list", "--json", "--database", second],
  );
  expect(shown[0]!.bannedUntil).not.toBeNull();

  const third = `sqlite:${place.path("third.db")}`;
  expect((await place.runHere(["migrate-store", "--from", second, "--to", third])).code).toBe(0);
  for (const file of ["first", "third"]) {
    const words = ["pets", "export", place.path(`${file}.json`)];
    await place.runHere([...words, "--database", `sqlite:${place.path(`${file}.db`)}`]);
  }
  const exported = (file: string) => Bun.file(place.path(`${file}.json`)).text();
  expect(await exported("third")).toBe(await exported("first"));
  for (const copy of [second, third]) {
    await withStore(copy, async (store) => {
      expect(await store.webhooks.listWebhooks()).toEqual(webhooks);
      expect(await store.webhooks.listAttempts("wh_a", 9)).toEqual([]);
      expect(await store.webhooks.claimWebhooks("here", 60_000)).toMatchObject([{ id: "wh_a" }]);
    });
  }
  for (const copy of [second, third]) {
    const kept = `${tip.seq}:${tip.hash}`;
    const verified = await place.runHere(["verify", "--expect", kept, "--database", copy]);
    expect(verified).toMatchObject({ code: 0, err: "" });
    await withStore(copy, async (store) => {
      expect(await store.history.readTip()).toEqual(tip);
      // No cached list of the source matches the copy.
      const { seq, epoch } = await store.inventory.readHead();
      expect(seq).toBe(head.seq);
      expect(epoch).not.toBe(head.epoch);
      // The quantity has changed since, so a second execution would be noticed.
      const retried = await store.inventory.commit([{ ...setUnit(1n, 7), idempotency }]);
      expect(retried.rows).toEqual([]);
      expect(await store.made.findMade(idempotency.key)).toMatchObject({ id: "made before" });
      const entry = { petId: 1n, quantity: 7, status: "available", version: 4 };
      expect(retried.outcomes).toMatchObject([
        { kind: "stored", entries: [entry], isReplayed: true },
      ]);
      const other = { ...idempotency, request: digestOfTexts("another request") };
      const reused = await store.inventory.commit([{ ...setUnit(1n, 9), idempotency: other }]);
      expect(reused.outcomes).toMatchObject([{ kind: "rejected", reason: "key_reused" }]);
    });
  }
  // The key is valid there, and still banned.
  const clock = createTestClock(Date.now());
  const served = await startTestService("sqlite", { database: third }, {}, { clock });
  expectError(await served.call("GET", "/inventory", { key }), "key_banned");
  await served.stop();
});

test("a target that is not empty is rejected and unchanged", async () => {
  const source = `sqlite:${place.path("source.db")}`;
  await importPets(source, '{"petId":1,"name":"Rex"}');
  const target = await createdDatabase();
  const create = ["keys", "create", "--name", "there", "--plan", "pro", "--database", target];
  await place.runHere(create);
  const refused = await place.runHere(["migrate-store", "--from", source, "--to", target]);
  expect(refused).toMatchObject({ code: 2, out: "", err: "petstore: the target is not empty\n" });
  expect((await withStore(target, async (store) => store.inventory.readHead())).seq).toBe(0);
});
