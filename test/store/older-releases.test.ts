import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { SQL } from "bun";
import { expectError, limitsOf } from "../support/answers.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { enterPlace, type Place } from "../support/process.ts";
import { call, type Engine, engines, startTestService } from "../support/service.ts";

/** Every release whose stores must open. A new release adds its version and its fixtures. */
const releases = ["0.1.0", "0.2.0"];

/** What the script that makes a fixture printed: the keys, and how the release listed them. */
interface Known {
  readonly keys: Readonly<Record<string, { id: string; texts: readonly string[] }>>;
  readonly listed: readonly { name: string; lastUsedAt: string | null }[];
}

const inventory = [
  '{"petId":-9223372036854775808,"quantity":0,"status":"sold"}',
  '{"petId":1,"quantity":10,"status":"available"}',
  '{"petId":2,"quantity":6,"status":"pending"}',
  '{"petId":7,"quantity":2,"status":"pending"}',
  '{"petId":9007199254740993,"quantity":9007199254740991,"status":"sold"}',
  '{"petId":9223372036854775807,"quantity":0,"status":"available"}',
];

const orders = [
  '{"id":9223372036854775807,"petId":9223372036854775807,"quantity":9007199254740991,"shipDate":null,"status":"placed","complete":false}',
  '{"id":9007199254740993,"petId":-9223372036854775808,"quantity":0,"shipDate":"1969-12-31T00:00:00.000Z","status":"delivered","complete":true}',
  '{"id":2,"petId":2,"quantity":1,"shipDate":null,"status":"approved","complete":false}',
  '{"id":1,"petId":1,"quantity":2,"shipDate":"2026-01-02T03:04:05.000Z","status":"placed","complete":true}',
];

/** The text of every pet, without its 64-bit id, in the order of the ids. */
const pets = [
  {
    name: "Ünïcødé 🐢 \"quoted\" 'n' | bar",
    category: "a|b",
    tags: ["a|b", "it's", '"q"', "\n"],
    photoUrls: [],
  },
  {
    name: "Rex",
    category: "dogs",
    tags: ["big"],
    photoUrls: ["https://example.com/a?b=c&d=%20"],
  },
  { name: "O'Hara", category: null, tags: [], photoUrls: [] },
  { name: "\\N", category: "NULL", tags: [], photoUrls: [] },
  { name: "two\nlines\tand a tab", category: null, tags: [], photoUrls: [] },
  { name: "back\\slash", category: null, tags: [], photoUrls: [] },
];

/** seq, pet, quantity before and after, status before and after, previous row of the pet, cause, reason. */
const ledger = [
  "1 -9223372036854775808 - 0 - sold - import import of pets.json",
  "2 1 - 3 - available - import import of pets.json",
  "3 2 - 5 - pending - import import of pets.json",
  "4 7 - 2 - available - import import of pets.json",
  "5 9007199254740993 - 9007199254740991 - sold - import import of pets.json",
  "6 9223372036854775807 - 1 - available - import import of pets.json",
  "7 1 3 10 available available 2 api -",
  "8 1 10 10 available available 7 api -",
  "9 2 5 6 pending pending 3 import import of restock.csv",
  "10 7 2 2 available pending 4 import import of restock.csv",
  "11 9223372036854775807 1 4 available available 6 api -",
  "12 9223372036854775807 4 0 available available 11 api -",
];

const fixture = (name: string) => resolve(import.meta.dir, "../fixtures", name);
const extensions: Record<Engine, string> = { sqlite: "db", postgres: "sql" };

/** A copy of the store, as the release left it. */
const restore: Record<Engine, (release: string, place: Place) => Promise<string>> = {
  async sqlite(release, place) {
    const name = `store-${release}.db`;
    // The files beside the database stay behind when a service stops, so the next release finds them.
    for (const file of readdirSync(fixture(""))) {
      if (file !== name && !file.startsWith(`${name}-`)) continue;
      copyFileSync(fixture(file), place.path(`store.db${file.slice(name.length)}`));
    }
    return `sqlite:${place.path("store.db")}`;
  },
  async postgres(release) {
    const url = await (await sharedPostgres()).freshDatabase();
    await using sql = new SQL(url, { max: 1 });
    await sql.unsafe(readFileSync(fixture(`store-${release}.sql`), "utf8"));
    return url;
  },
};

const selectLedger = `SELECT seq, pet_id, quantity_before, quantity_after, status_before,
  status_after, previous, cause, reason FROM ledger ORDER BY seq`;

/** The ledger in the database, read without the code under test. */
async function readLedger(database: string): Promise<string[]> {
  const written = (row: readonly unknown[]) => row.map((value) => value ?? "-").join(" ");
  if (database.startsWith("sqlite:")) {
    using file = new Database(database.slice("sqlite:".length), { safeIntegers: true });
    return file.query(selectLedger).values().map(written);
  }
  await using sql = new SQL(database, { max: 1, bigint: true });
  const rows: unknown[][] = await sql.unsafe(selectLedger).values();
  return rows.map(written);
}

describe.each(releases.flatMap((release) => engines.map((engine) => ({ release, engine }))))(
  "a store of $release on $engine",
  ({ release, engine }) => {
    const known: Known = JSON.parse(
      readFileSync(fixture(`store-${release}.${extensions[engine]}.json`), "utf8"),
    );
    const textOf = (name: string) => known.keys[name]!.texts[0]!;
    let place: Place;
    let database: string;
    beforeEach(async () => {
      place = enterPlace();
      database = await restore[engine](release, place);
    });
    afterEach(() => place.leave());

    async function expectSound(rows: number): Promise<void> {
      const sound = { rows, entries: 6, pets: 6, faults: [], faultCount: 0 };
      const { code, out } = await place.run(["verify", "--json", "--database", database]);
      expect({ code, ...JSON.parse(out) }).toEqual({ code: 0, ...sound });
    }

    test("is opened by the first command, and nothing in it is at fault", async () => {
      await expectSound(12);
      expect(await readLedger(database)).toEqual(ledger);
    });

    test("has the keys and the pets that the release had", async () => {
      const listed = await place.json<Known["listed"]>("keys", "list", "--database", database);
      expect(listed).toMatchObject(known.listed as never);
      expect(listed).toHaveLength(9);
      const words = ["pets", "export", "-", "--format", "ndjson", "--database", database];
      const { out } = await place.run(words);
      const exported = out.trimEnd().split("\n");
      expect(exported.map((line) => JSON.parse(line))).toMatchObject(pets);
      const numbers = /^\{"petId":(-?\d+),.*"status":"(\w+)","quantity":(\d+)\}$/;
      expect(
        exported.map((line) => line.replace(numbers, '{"petId":$1,"quantity":$3,"status":"$2"}')),
      ).toEqual(inventory);
    });

    test("is served as it was, and an update goes on where the ledger ended", async () => {
      const { baseUrl, kill, exited } = await place.serve(["serve", "--database", database]);
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
      kill("SIGTERM");
      expect(await exited).toBe(0);
      await expectSound(14);
      expect(await readLedger(database)).toEqual([
        ...ledger,
        "13 -9223372036854775808 0 42 sold sold 1 api -",
        "14 1 10 10 available available 8 api -",
      ]);
    });

    test("opens to the keys that were valid, within their scopes and limits, and to no others", async () => {
      const { baseUrl, kill, exited } = await place.serve(["serve", "--database", database]);
      const list = (key: string) => call(baseUrl, "GET", "/inventory", { key });
      for (const [name, perMinute] of [
        ["all scopes", 1_000],
        ['Zoë\'s "till" | 🐢', 60],
        ["custom limits", 1_234],
      ] as const) {
        const answer = await list(textOf(name));
        expect({ name, status: answer.status }).toEqual({ name, status: 200 });
        expect(limitsOf(answer).limit).toBe(perMinute);
      }
      const [older, newer] = known.keys.rotated!.texts;
      const first = limitsOf(await list(older!));
      const second = limitsOf(await list(newer!));
      expect([first.limit, second.limit]).toEqual([300, 300]);
      expect(older).not.toBe(newer);

      expectError(await list(textOf("expired")), "unauthorized");
      expectError(await list(textOf("revoked")), "unauthorized");
      const reader = { key: textOf('Zoë\'s "till" | 🐢') };
      expectError(await call(baseUrl, "GET", "/store/orders", reader), "insufficient_scope");
      kill("SIGTERM");
      await exited;
      await expectSound(12);
    });

    test("still bans the key that was banned until its ban is lifted, and not the one whose ban was", async () => {
      const ask = async (...names: string[]) => {
        const { baseUrl, kill, exited } = await place.serve(["serve", "--database", database]);
        const answers = [];
        for (const name of names) {
          answers.push(await call(baseUrl, "GET", "/inventory", { key: textOf(name) }));
        }
        kill("SIGTERM");
        await exited;
        return answers;
      };
      const [banned, unbanned] = await ask("banned", "unbanned");
      expectError(banned!, "key_banned");
      expect(unbanned!.status).toBe(200);
      const unban = ["keys", "unban", known.keys.banned!.id, "--database", database];
      expect(await place.run(unban)).toMatchObject({ code: 0 });
      const [lifted] = await ask("banned");
      expect(lifted!.status).toBe(200);
    });

    test("counts on from the requests that the release counted that day", async () => {
      const service = await startTestService(engine, { database });
      try {
        const { lastUsedAt } = known.listed.find(({ name }) => name === "counted")!;
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
