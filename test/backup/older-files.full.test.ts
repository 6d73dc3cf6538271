import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inventory, keyedUpdate, ledger, orders, pets } from "../fixtures/expected.ts";
import { readParts, writeParts } from "../support/backup-files.ts";
import { createTestClock } from "../support/clock.ts";
import { jsonHere, runHere } from "../support/commands.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { copyReleaseBackup, readReleaseBackup } from "../support/release-backup.ts";
import { expectError, limitsOf } from "../support/responses.ts";
import { type Engine, engines, startTestService, type TestService } from "../support/service.ts";
import { verifyStore, withStoreAt } from "../support/stocking.ts";
import { hashesOf, readLedger, readRows } from "../support/stored-rows.ts";
import { until } from "../support/until.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace();
afterAll(() => place.leave());

const files: Record<Engine, string> = {
  sqlite: copyReleaseBackup("sqlite", place),
  postgres: copyReleaseBackup("postgres", place),
};
const into = (database: string) => ["--database", database];
let made = 0;
const freshFile = () => `sqlite:${place.path(`restored-${++made}.db`)}`;
const targets: Record<Engine, () => Promise<string>> = {
  sqlite: async () => freshFile(),
  postgres: () => createdDatabase(),
};
const routes = engines.flatMap((from) => engines.map((to) => ({ from, to })));

// The tests of a route run in this order, on one restored store and one service.
describe.each(routes)("a backup of 0.15.0 on $from, restored to $to", ({ from, to }) => {
  const { keys, listed, webhooks, head } = readReleaseBackup(from);
  const { lastUsedAt } = listed.find(({ name }) => name === "counted")!;
  const clock = createTestClock(Date.parse(lastUsedAt!) + 60_000);
  let database: string;
  let service: TestService;
  beforeAll(async () => {
    database = await targets[to]();
    expect(await runHere(["restore", files[from], ...into(database)])).toMatchObject({ code: 0 });
    service = await startTestService(to, { database }, {}, { clock });
  });
  afterAll(() => service.stop());

  const request = (path: string, name = "all scopes") =>
    service.call("GET", path, { key: keys[name]!.texts[0] });
  const update = (petId: string, quantity: number, headers: Record<string, string> = {}) =>
    service.call("PATCH", `/inventory/${petId}`, {
      key: keys["all scopes"]!.texts[0],
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ quantity }),
    });

  test("has every ledger row with its hash, and a hash that was kept with 0.15.0 proves it", async () => {
    expect(await readLedger(database)).toEqual(ledger);
    const hashes = await hashesOf(database);
    const stored = await readRows(database, "SELECT hash FROM ledger ORDER BY seq");
    expect(stored.map(([hash]) => Buffer.from(hash as Uint8Array).toString("hex"))).toEqual(
      hashes.slice(1),
    );
    expect(head).toEqual({ seq: ledger.length, hash: hashes.at(-1)! });
    const kept = ["verify", "--expect", `${head.seq}:${head.hash}`, ...into(database)];
    expect(await jsonHere(...kept)).toMatchObject({ rows: 14, entries: 6, pets: 6, ...head });
    const other = ["verify", "--expect", `${head.seq}:${"0".repeat(64)}`, ...into(database)];
    expect(await runHere(other)).toMatchObject({ code: 1 });
  });

  test("has every key, webhook, audit entry and pet", async () => {
    const listedNow = await jsonHere("keys", "list", ...into(database));
    // The requests of the day on which the store was made are not those of today.
    expect(listedNow).toEqual(
      listed.map((one) => ({ ...one, usedToday: expect.any(Number) })) as never,
    );
    expect(await jsonHere("webhooks", "list", ...into(database))).toEqual(webhooks as never);
    await withStoreAt(database, async ({ catalogue, audit }) => {
      expect(await catalogue.petsAfter(null, 9)).toMatchObject(pets);
      expect((await audit.listEntries({}, 99)).length).toBeGreaterThan(9);
    });
    const points = "SELECT count(*) FROM usage_points";
    expect(Number((await readRows(database, points))[0]![0])).toBeGreaterThan(9);
  });

  test("answers a retry with the first result, and refuses another request with its key", async () => {
    const { petId, quantity, idempotencyKey } = keyedUpdate;
    const keyed = { "Idempotency-Key": idempotencyKey };
    const again = await update(petId, quantity, keyed);
    expect({ status: again.status, replayed: again.headers.get("Idempotent-Replayed") }).toEqual({
      status: 200,
      replayed: "true",
    });
    expect(again.json).toMatchObject({ quantity });
    expectError(await update(petId, quantity + 1, keyed), "idempotency_key_reused");
    expect(await readLedger(database)).toEqual(ledger);
  });

  test("keeps the requests counted in the current day", async () => {
    // 4 of the day's 10 requests were used.
    for (const remaining of [5, 4, 3, 2, 1, 0]) {
      const counted = await request("/inventory", "counted");
      expect(limitsOf(counted)).toMatchObject({ limit: 10, remaining });
    }
    expectError(await request("/inventory", "counted"), "rate_limit_exceeded");
  });

  test("accepts valid keys with their scopes and limits, and refuses expired, revoked and banned ones", async () => {
    clock.set(Date.now());
    for (const [name, perMinute] of [
      ["all scopes", 1_000],
      ['Zoë\'s "till" | 🐢', 60],
      ["custom limits", 1_234],
    ] as const) {
      const response = await request("/inventory", name);
      expect({ name, status: response.status }).toEqual({ name, status: 200 });
      expect(limitsOf(response).limit).toBe(perMinute);
    }
    const { texts } = keys.rotated!;
    expect(new Set(texts).size).toBe(2);
    for (const key of texts) {
      expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
    }
    expectError(await request("/inventory", "expired"), "unauthorized");
    expectError(await request("/inventory", "revoked"), "unauthorized");
    expectError(await request("/store/orders", 'Zoë\'s "till" | 🐢'), "insufficient_scope");
    expectError(await request("/inventory", "banned"), "key_banned");
    expect((await request("/inventory", "unbanned")).status).toBe(200);
    const unban = await runHere(["keys", "unban", keys.banned!.id, ...into(database)]);
    expect(unban).toMatchObject({ code: 0 });
    // Another process changed the store, which an instance on PostgreSQL sees within a second.
    await until(
      async () => (await request("/inventory", "banned")).status === 200,
      2_000,
      "the lifted ban",
    );
  });

  test("is served unchanged, and an update continues its ledger", async () => {
    const list = await request("/inventory");
    expect(list.text).toBe(`[${inventory.join()}]`);
    expect((await request("/store/orders")).text).toBe(`[${orders.join()}]`);
    const changed = '{"petId":-9223372036854775808,"quantity":42,"status":"sold"}';
    expect((await update("-9223372036854775808", 42)).text).toBe(changed);
    const after = await request("/inventory");
    expect(after.text).toBe(`[${[changed, ...inventory.slice(1)].join()}]`);
    await service.stop();
    expect(await readLedger(database)).toEqual([
      ...ledger,
      "15 -9223372036854775808 0 42 sold sold 1 api -",
    ]);
    const hash = (await hashesOf(database))[15]!;
    expect(await verifyStore(database)).toMatchObject({ seq: 15, hash, faultCount: 0 });
  });
});

/** Restores the backup after `change` to a new file. Returns what the command said, and the address. */
async function restoreChanged(change: (parts: ReturnType<typeof readParts>) => object) {
  const parts = readParts(files.sqlite);
  const file = place.path(`changed-${++made}.petstore`);
  writeParts(file, { ...parts, ...change(parts) });
  const database = freshFile();
  return { ran: await runHere(["restore", file, ...into(database)]), database };
}

test("a backup of other tables is refused with the version that can restore it", async () => {
  const { ran } = await restoreChanged(({ manifest }) => {
    const { orders: _, ...rows } = manifest.rows as Record<string, number>;
    return { manifest: { ...manifest, rows } };
  });
  expectUsageError(ran, "was made by petstore 0.15.0, whose tables differ");
});

test("a backup with a row without a hash is refused, and not as a damaged one", async () => {
  const { ran } = await restoreChanged(({ lines }) => ({
    lines: lines.map((line) => line.replace(/^(\[14,.*),"[0-9a-f]{64}"\]$/, "$1,null]")),
  }));
  expectUsageError(ran, "has ledger rows without a hash, from a store that 0.1.0, 0.2.0 or 0.3.0");
  expect(ran.err).toContain("docs/upgrading.md");
  expect(ran.err).not.toContain("damaged");
});

test("a backup with an invalid row is damaged", async () => {
  const { ran } = await restoreChanged(({ lines }) => ({
    lines: lines.map((line) => line.replace(/^(\[14,.*),"[0-9a-f]{64}"\]$/, '$1,"0"]')),
  }));
  expectUsageError(ran, "is damaged: row 14 of table ledger is invalid");
});

test("a restore that fails leaves no store in a database", async () => {
  const parts = readParts(files.sqlite);
  const file = place.path("nul.petstore");
  // PostgreSQL cannot store this text.
  const lines = parts.lines.map((line) => line.replace('"dogs"', '"\\u0000"'));
  expect(lines).not.toEqual(parts.lines);
  writeParts(file, { ...parts, lines });
  const database = await (await sharedPostgres()).freshDatabase();
  const restore = (from: string) => runHere(["restore", from, ...into(database)]);
  expect(await restore(file)).toMatchObject({ code: 2 });
  const listed = await runHere(["keys", "list", ...into(database)]);
  expectUsageError(listed, "there is no store in the database");
  const restored = await restore(files.sqlite);
  expect(restored).toMatchObject({ code: 0 });
  expect(restored.err).toContain("created the store");
  expect(await verifyStore(database)).toMatchObject({ pets: 6, faultCount: 0 });
});

test("a backup may lack the last columns of pets, which then have the value of a new pet", async () => {
  const { ran, database } = await restoreChanged(({ lines }) => {
    const start = lines.findIndex((line) => line.startsWith('{"table":"pets"'));
    const end = lines.findIndex((line) => line.startsWith('{"end":"pets"'));
    return {
      lines: lines.map((line, at) => {
        if (at === start) return line.replace(',"barcode","low_stock_at"', "");
        return start < at && at < end ? line.replace(/,(?:null|"\d+"),(?:null|\d+)\]$/, "]") : line;
      }),
    };
  });
  expect(ran.code).toBe(0);
  expect(await verifyStore(database)).toMatchObject({ pets: 6, faultCount: 0 });
  await withStoreAt(database, async ({ catalogue }) => {
    const expected = pets.map((pet) => ({ ...pet, barcode: null, lowStockAt: null }));
    expect(await catalogue.petsAfter(null, 9)).toMatchObject(expected);
  });
});
