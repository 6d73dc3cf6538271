import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { lockForServing } from "../../src/store/sqlite/engine/serving-lock.ts";
import { inventory, ledger, orders, pets } from "../fixtures/expected.ts";
import { createTestClock } from "../support/clock.ts";
import { expectUsageError, openWorkspace, type Workspace } from "../support/process.ts";
import {
  hashesOf,
  type ReleaseKeys,
  readKeys,
  readLedger,
  readRows,
  restore,
} from "../support/release-stores.ts";
import { expectError, limitsOf } from "../support/responses.ts";
import { call, engines, startTestService } from "../support/service.ts";
import { importPets, verifyStore } from "../support/stocking.ts";

/** Every release whose stores must open. A new release adds its version and its fixtures. */
const releases = ["0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0"];
/** Their rows have no hashes, and their keys cannot read the ledger. */
const releasesWithoutHashes = ["0.1.0", "0.2.0", "0.3.0"];

describe.each(releases.flatMap((release) => engines.map((engine) => ({ release, engine }))))(
  "a store of $release on $engine",
  ({ release, engine }) => {
    const { keys, listed, webhooks } = readKeys(release, engine);
    const textOf = (name: string) => keys[name]!.texts[0]!;
    const hasHashes = !releasesWithoutHashes.includes(release);
    let place: Workspace;
    let database: string;
    beforeEach(async () => {
      place = openWorkspace();
      database = await restore[engine](release, place);
    });
    afterEach(() => place.leave());

    /** In this process, at the current time: a process for each would take most of the time. */
    const serve = () =>
      startTestService(engine, { database }, {}, { clock: createTestClock(Date.now()) });

    async function sound(rows: number) {
      const hash = (await hashesOf(database)).at(-1)!;
      return { rows, entries: 6, pets: 6, seq: rows, hash, faults: [], faultCount: 0 };
    }

    test("is migrated by the first command and passes verification", async () => {
      const origins = "seq, key_id, request_id, at";
      const before = await readLedger(database, origins);
      expect(before).toHaveLength(12);
      const { code, out } = await place.run(["verify", "--json", "--database", database]);
      expect({ code, ...JSON.parse(out) }).toEqual({ code: 0, ...(await sound(12)) });
      expect(await readLedger(database)).toEqual(ledger);
      expect(await readLedger(database, origins)).toEqual(before);
    });

    test("continues its hash chain, or starts one with a hash of all rows so far", async () => {
      expect(await verifyStore(database)).toEqual(await sound(12));
      const start = hasHashes ? 0 : 12;
      const digest = (await hashesOf(database))[start]!;
      expect(await readRows(database, "SELECT from_seq, hash FROM chain")).toEqual([
        [BigInt(start), digest],
      ]);
      const { baseUrl, stop } = await serve();
      const updated = await call(baseUrl, "PATCH", "/inventory/1", {
        key: textOf("all scopes"),
        headers: { "Content-Type": "application/json" },
        body: '{"quantity":11}',
      });
      expect(updated.status).toBe(200);
      await stop();
      await importPets(database, '{"petId":8,"name":"Ben"}');
      const hashes = await hashesOf(database);
      const stored = await readRows(database, "SELECT hash FROM ledger ORDER BY seq");
      expect(
        stored.map(([bytes]) => bytes && Buffer.from(bytes as Uint8Array).toString("hex")),
      ).toEqual([...Array(start).fill(null), ...hashes.slice(start + 1)]);
      for (const seq of [0, 1, 12, 13, 14]) {
        const kept = { seq, hash: hashes[seq]! };
        expect(await verifyStore(database, kept)).toMatchObject({ seq: 14, faultCount: 0 });
      }
    });

    test("keeps every key, every webhook and every pet", async () => {
      const words = ["keys", "list", "--database", database];
      const listedNow = await place.json<ReleaseKeys["listed"]>(...words);
      expect(listedNow).toMatchObject(listed as never);
      expect(listedNow).toHaveLength(9);
      if (webhooks.length > 0) {
        const now = await place.json("webhooks", "list", "--database", database);
        expect(now).toEqual(webhooks as never);
      }
      const exporting = ["pets", "export", "-", "--format", "ndjson", "--database", database];
      const { out } = await place.run(exporting);
      const exported = out.trimEnd().split("\n");
      expect(exported.map((line) => JSON.parse(line))).toMatchObject(pets);
      const numbers = /^\{"petId":(-?\d+),.*"status":"(\w+)","quantity":(\d+)\}$/;
      expect(
        exported.map((line) => line.replace(numbers, '{"petId":$1,"quantity":$3,"status":"$2"}')),
      ).toEqual(inventory);
    });

    test("is served unchanged, and an update continues its ledger", async () => {
      const { baseUrl, stop } = await serve();
      const key = textOf("all scopes");
      const list = await call(baseUrl, "GET", "/inventory", { key });
      expect(list.text).toBe(`[${inventory.join()}]`);
      const ordered = await call(baseUrl, "GET", "/store/orders", { key });
      expect(ordered.text).toBe(`[${orders.join()}]`);
      const update = (petId: string, quantity: number) =>
        call(baseUrl, "PATCH", `/inventory/${petId}`, {
          key,
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ quantity }),
        });
      const changed = '{"petId":-9223372036854775808,"quantity":42,"status":"sold"}';
      expect((await update("-9223372036854775808", 42)).text).toBe(changed);
      expect((await update("1", 10)).text).toBe(inventory[1]!);
      const after = await call(baseUrl, "GET", "/inventory", { key });
      expect(after.text).toBe(`[${[changed, ...inventory.slice(1)].join()}]`);
      expect(after.headers.get("ETag")).not.toBe(list.headers.get("ETag"));
      await stop();
      expect(await verifyStore(database)).toEqual(await sound(14));
      expect(await readLedger(database)).toEqual([
        ...ledger,
        "13 -9223372036854775808 0 42 sold sold 1 api -",
        "14 1 10 10 available available 8 api -",
      ]);
    });

    test("accepts its valid keys with their scopes and limits, and refuses expired and revoked ones", async () => {
      const { baseUrl, stop } = await serve();
      const list = (key: string) => call(baseUrl, "GET", "/inventory", { key });
      for (const [name, perMinute] of [
        ["all scopes", 1_000],
        ['Zoë\'s "till" | 🐢', 60],
        ["custom limits", 1_234],
      ] as const) {
        const response = await list(textOf(name));
        expect({ name, status: response.status }).toEqual({ name, status: 200 });
        expect(limitsOf(response).limit).toBe(perMinute);
      }
      const [older, newer] = keys.rotated!.texts;
      expect(older).not.toBe(newer);
      expect((await list(older!)).status).toBe(200);
      expect((await list(newer!)).status).toBe(200);

      expectError(await list(textOf("expired")), "unauthorized");
      expectError(await list(textOf("revoked")), "unauthorized");
      const reader = { key: textOf('Zoë\'s "till" | 🐢') };
      expectError(await call(baseUrl, "GET", "/store/orders", reader), "insufficient_scope");
      const all = { key: textOf("all scopes") };
      const changes = await call(baseUrl, "GET", "/changes", all);
      if (hasHashes) expect(changes.status).toBe(200);
      else expectError(changes, "insufficient_scope");
      await stop();
      expect(await verifyStore(database)).toEqual(await sound(12));
    });

    test("keeps a ban in force until it is lifted, and a lifted ban lifted", async () => {
      const request = async (...names: string[]) => {
        const { baseUrl, stop } = await serve();
        const responses = [];
        for (const name of names) {
          responses.push(await call(baseUrl, "GET", "/inventory", { key: textOf(name) }));
        }
        await stop();
        return responses;
      };
      const [banned, unbanned] = await request("banned", "unbanned");
      expectError(banned!, "key_banned");
      expect(unbanned!.status).toBe(200);
      const unban = ["keys", "unban", keys.banned!.id, "--database", database];
      expect(await place.run(unban)).toMatchObject({ code: 0 });
      const [lifted] = await request("banned");
      expect(lifted!.status).toBe(200);
    });

    test("keeps the requests counted in the current day", async () => {
      const service = await startTestService(engine, { database });
      try {
        const { lastUsedAt } = listed.find(({ name }) => name === "counted")!;
        service.clock.set(Date.parse(lastUsedAt!) + 60_000);
        const list = () => service.call("GET", "/inventory", { key: textOf("counted") });
        // 4 of the day's 10 requests were used.
        for (const remaining of [5, 4, 3, 2, 1, 0]) {
          expect(limitsOf(await list())).toMatchObject({ limit: 10, remaining });
        }
        expectError(await list(), "rate_limit_exceeded");
      } finally {
        await service.stop();
      }
    });
  },
);

describe("a SQLite store that a service of 0.3.0 is using", () => {
  let place: Workspace;
  beforeEach(() => {
    place = openWorkspace();
  });
  afterEach(() => place.leave());

  const refusal = "an older version of petstore is serving the store; restart it with this version";
  const commands = [
    ["verify"],
    ["keys", "list"],
    ["pets", "import", "-"],
    ["pets", "export", "-", "--format", "ndjson"],
  ];

  test("is neither opened nor migrated by a command, until that service ends", async () => {
    const database = await restore.sqlite("0.3.0", place);
    const path = place.path("store.db");
    const schema = () => readRows(database, "SELECT name, sql FROM sqlite_schema ORDER BY name");
    const before = await schema();
    // The lock is the same in 0.3.0. A command runs as another process and finds it taken.
    const release = lockForServing(path);
    try {
      for (const words of commands) {
        const ran = await place.run([...words, "--database", database]);
        expectUsageError(ran, refusal);
      }
      const elsewhere = `sqlite:${place.path("elsewhere.db")}`;
      const copying = ["migrate-store", "--from", database, "--to", elsewhere];
      expectUsageError(await place.run(copying), "another process is already serving");
      expect(await schema()).toEqual(before);
      expect(await readRows(database, "PRAGMA user_version")).toEqual([[2n]]);
    } finally {
      release();
    }
    for (const words of commands) {
      expect(await place.run([...words, "--database", database])).toMatchObject({ code: 0 });
    }
    expect(await readLedger(database)).toEqual(ledger);
  });

  test("that this version serves can be opened by commands", async () => {
    const database = await restore.sqlite("0.3.0", place);
    await place.serve(["serve", "--database", database]);
    for (const words of commands) {
      expect(await place.run([...words, "--database", database])).toMatchObject({ code: 0 });
    }
  });
});
