import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { verify } from "../../src/domain/verification/verify.ts";
import { inventory, ledger, orders, pets } from "../fixtures/expected.ts";
import { createTestClock } from "../support/clock.ts";
import { jsonHere, runHere } from "../support/commands.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import {
  hashesOf,
  type ReleaseKeys,
  readKeys,
  readLedger,
  readRows,
  restore,
} from "../support/release-stores.ts";
import { expectError, limitsOf } from "../support/responses.ts";
import {
  engines,
  startTestService,
  surfaceEngine,
  type TestResponse,
  type TestService,
} from "../support/service.ts";
import { importPets, verifyStore, withStoreAt } from "../support/stocking.ts";

/** Every release whose stores must open. A new release adds its version and its fixtures. */
const releases = [
  "0.1.0",
  "0.2.0",
  "0.3.0",
  "0.4.0",
  "0.5.0",
  "0.6.0",
  "0.7.0",
  "0.8.1",
  "0.9.0",
  "0.13.0",
];
/** Their rows have no hashes, and their keys cannot read the ledger. */
const releasesWithoutHashes = ["0.1.0", "0.2.0", "0.3.0"];
/** They have no table `maintenance`. */
const releasesWithoutMaintenance = [...releasesWithoutHashes, "0.4.0", "0.5.0"];

const newest = releases.at(-1)!;

/** The newest on both engines, the others on the engine of this run. */
const stores = releases.flatMap((release) =>
  engines
    .filter((engine) => release === newest || engine === surfaceEngine)
    .map((engine) => ({ release, engine })),
);

// The tests of a store run in this order, on one copy of it and one service.
describe.each(stores)("a store of $release on $engine", ({ release, engine }) => {
  const { keys, listed, webhooks } = readKeys(release, engine);
  const textOf = (name: string) => keys[name]!.texts[0]!;
  const hasHashes = !releasesWithoutHashes.includes(release);
  const { lastUsedAt } = listed.find(({ name }) => name === "counted")!;
  const clock = createTestClock(Date.parse(lastUsedAt!) + 60_000);
  let place: Workspace;
  let database: string;
  let service: TestService | undefined;
  beforeAll(async () => {
    place = openWorkspace();
    database = await restore[engine](release, place);
  });
  afterAll(async () => {
    await service?.stop();
    await place.leave();
  });

  async function sound(rows: number) {
    const hash = (await hashesOf(database)).at(-1)!;
    return { rows, entries: 6, pets: 6, seq: rows, hash, faults: [], faultCount: 0 };
  }

  async function request(path: string, name = "all scopes"): Promise<TestResponse> {
    service ??= await startTestService(engine, { database }, {}, { clock });
    return service.call("GET", path, { key: textOf(name) });
  }

  const update = (petId: string, quantity: number) =>
    service!.call("PATCH", `/inventory/${petId}`, {
      key: textOf("all scopes"),
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ quantity }),
    });

  test("is migrated by the first command and passes verification", async () => {
    const origins = "seq, key_id, request_id, at";
    const before = await readLedger(database, origins);
    expect(before).toHaveLength(12);
    const { code, out } = await runHere(["verify", "--json", "--database", database]);
    expect({ code, ...JSON.parse(out) }).toEqual({ code: 0, ...(await sound(12)) });
    expect(await readLedger(database)).toEqual(ledger);
    expect(await readLedger(database, origins)).toEqual(before);
  });

  test("keeps the record of its last backup", async () => {
    const records = await withStoreAt(database, ({ maintenance }) => maintenance.listMaintenance());
    if (releasesWithoutMaintenance.includes(release)) {
      expect(records).toEqual([]);
      return;
    }
    expect(records).toMatchObject([{ task: "backup", startedAt: 0, failedAt: null, error: null }]);
    const { succeededAt, result } = records[0]!;
    const hash = (await hashesOf(database))[12]!;
    const { at, ...backup } = JSON.parse(result!);
    expect(backup).toMatchObject({ file: "-", seq: 12, hash });
    // The backup was made after the last request and before the record of it.
    expect(Date.parse(at)).toBeGreaterThan(Date.parse(lastUsedAt!));
    expect(succeededAt).toBeGreaterThanOrEqual(Date.parse(at));
  });

  test("keeps every key, every webhook and every pet", async () => {
    const words = ["keys", "list", "--database", database];
    const listedNow = await jsonHere<ReleaseKeys["listed"]>(...words);
    // The requests of the day on which the store was made are not those of today.
    const kept = listed.map((one) => ({ ...one, usedToday: expect.any(Number) }));
    expect(listedNow).toMatchObject(kept as never);
    expect(listedNow).toHaveLength(9);
    if (webhooks.length > 0) {
      const now = await jsonHere("webhooks", "list", "--database", database);
      // Fields that were added later have the value that changes nothing.
      const completed = webhooks.map((one) => ({
        ...one,
        filter: { ...one.filter, becomesLow: false },
      }));
      expect(now).toEqual(completed as never);
    }
    const exporting = ["pets", "export", "-", "--format", "ndjson", "--database", database];
    const { out } = await runHere(exporting);
    const exported = out.trimEnd().split("\n");
    expect(exported.map((line) => JSON.parse(line))).toMatchObject(pets);
    const numbers = /^\{"petId":(-?\d+),.*"status":"(\w+)","quantity":(\d+)\}$/;
    expect(
      exported.map((line) => line.replace(numbers, '{"petId":$1,"quantity":$3,"status":"$2"}')),
    ).toEqual(inventory);
  });

  // Once migrated, all stores are alike. A service opens the oldest, the first with hashes and the
  // newest of each engine.
  const isServed = ["0.1.0", "0.4.0", releases.at(-1)].includes(release);

  if (isServed) {
    test("keeps the requests counted in the current day", async () => {
      // 4 of the day's 10 requests were used.
      for (const remaining of [5, 4, 3, 2, 1, 0]) {
        const counted = await request("/inventory", "counted");
        expect(limitsOf(counted)).toMatchObject({ limit: 10, remaining });
      }
      expectError(await request("/inventory", "counted"), "rate_limit_exceeded");
    });

    test("accepts its valid keys with their scopes and limits, and refuses expired and revoked ones", async () => {
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
      const texts = keys.rotated!.texts;
      expect(new Set(texts).size).toBe(2);
      for (const key of texts) {
        expect((await service!.call("GET", "/inventory", { key })).status).toBe(200);
      }
      expectError(await request("/inventory", "expired"), "unauthorized");
      expectError(await request("/inventory", "revoked"), "unauthorized");
      expectError(await request("/store/orders", 'Zoë\'s "till" | 🐢'), "insufficient_scope");
      const changes = await request("/changes");
      if (hasHashes) expect(changes.status).toBe(200);
      else expectError(changes, "insufficient_scope");
    });

    test("keeps a ban in force, and a lifted ban lifted", async () => {
      expectError(await request("/inventory", "banned"), "key_banned");
      expect((await request("/inventory", "unbanned")).status).toBe(200);
    });

    // The oldest and the newest are enough.
    if ([releases[0], releases.at(-1)].includes(release)) {
      test("has bans that can be lifted", async () => {
        await service!.stop();
        service = undefined;
        const unban = ["keys", "unban", keys.banned!.id, "--database", database];
        expect(await runHere(unban)).toMatchObject({ code: 0 });
        expect((await request("/inventory", "banned")).status).toBe(200);
      });
    }

    test("is served unchanged, and an update continues its ledger", async () => {
      const list = await request("/inventory");
      expect(list.text).toBe(`[${inventory.join()}]`);
      expect((await request("/store/orders")).text).toBe(`[${orders.join()}]`);
      const changed = '{"petId":-9223372036854775808,"quantity":42,"status":"sold"}';
      expect((await update("-9223372036854775808", 42)).text).toBe(changed);
      expect((await update("1", 10)).text).toBe(inventory[1]!);
      const after = await request("/inventory");
      expect(after.text).toBe(`[${[changed, ...inventory.slice(1)].join()}]`);
      expect(after.headers.get("ETag")).not.toBe(list.headers.get("ETag"));
      await service!.stop();
      service = undefined;
      expect(await verifyStore(database)).toEqual(await sound(14));
      expect(await readLedger(database)).toEqual([
        ...ledger,
        "13 -9223372036854775808 0 42 sold sold 1 api -",
        "14 1 10 10 available available 8 api -",
      ]);
    });
  }

  test("continues its hash chain, or starts one with a hash of all rows so far", async () => {
    const start = hasHashes ? 0 : 12;
    await importPets(database, '{"petId":8,"name":"Ben"}');
    const hashes = await hashesOf(database);
    expect(await readRows(database, "SELECT from_seq, hash FROM chain")).toEqual([
      [BigInt(start), hashes[start]!],
    ]);
    const stored = await readRows(database, "SELECT hash FROM ledger ORDER BY seq");
    expect(
      stored.map(([bytes]) => bytes && Buffer.from(bytes as Uint8Array).toString("hex")),
    ).toEqual([...Array(start).fill(null), ...hashes.slice(start + 1)]);
    await withStoreAt(database, async ({ transfer }) => {
      for (const seq of [0, 12, 13]) {
        const kept = { seq, hash: hashes[seq]! };
        const verified = await transfer.snapshot((snapshot) => verify(snapshot, kept));
        expect(verified).toMatchObject({ seq: isServed ? 15 : 13, faultCount: 0 });
      }
    });
  });
});
