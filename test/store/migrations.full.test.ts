import { expect, test } from "bun:test";
import { SQL } from "bun";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import type { Store } from "../../src/domain/store.ts";
import { verify } from "../../src/domain/verification/verify.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { steps } from "../../src/store/postgres/schema/steps.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { migratedDatabase } from "../support/postgres-template.ts";
import { restore } from "../support/release-stores.ts";
import { setUnit } from "../support/units.ts";

const open = (url: string): Promise<Store> =>
  openPostgres({ database: createDatabase(url), environment: "production", patienceMs: 0 });

test("instances that start together on an empty database migrate it once", async () => {
  const url = await (await sharedPostgres()).freshDatabase();
  const stores = await Promise.all(Array.from({ length: 8 }, () => open(url)));
  const heads = await Promise.all(stores.map((store) => store.inventory.readHead()));
  expect(new Set(heads.map(({ epoch }) => epoch)).size).toBe(1);
  await using sql = new SQL(url, { max: 1 });
  expect(await sql`SELECT count(*)::int AS heads FROM store`).toEqual([{ heads: 1 }] as never);
  await Promise.all(stores.map((store) => store.close()));
});

test("an instance serves a newer schema that still fits it, and rejects one that does not", async () => {
  const url = await migratedDatabase();
  await using sql = new SQL(url, { max: 1 });
  await sql`UPDATE petstore_schema SET version = version + 1`;
  await sql`ALTER TABLE inventory ADD COLUMN shelf text`;
  const older = await open(url);
  expect(await older.inventory.entriesAfter(null, 10)).toEqual([]);
  await older.close();
  await sql`UPDATE petstore_schema SET fits = version`;
  await expect(open(url)).rejects.toThrow("newer version of petstore");
});

test("a column added while an instance runs does not affect it", async () => {
  const url = await migratedDatabase();
  const store = await open(url);
  const pet = { petId: 1n, line: 1, name: "a", quantity: 1 };
  await store.catalogue.importPets(
    (async function* () {
      yield [pet];
    })(),
    commandImport("test"),
  );
  const set = (quantity: number) => store.inventory.commit([setUnit(1n, quantity)]);
  for (let quantity = 2; quantity < 10; quantity++) await set(quantity);
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(`ALTER TABLE inventory ADD COLUMN shelf text;
    ALTER TABLE ledger ADD COLUMN shelf text; ALTER TABLE store ADD COLUMN shelf text;
    ALTER TABLE ledger_end ADD COLUMN shelf text`);
  expect(await set(10)).toMatchObject({ outcomes: [{ entries: [{ quantity: 10, version: 10 }] }] });
  expect(await store.inventory.entriesAfter(null, 10)).toMatchObject([{ quantity: 10 }]);
  expect((await store.inventory.readHead()).seq).toBe(10);
  await store.close();
});

test("a store of version 0.1.0 keeps ledger, stock, counts and bans, and a running instance of 0.1.0 gets an error", async () => {
  const url = await (await sharedPostgres()).freshDatabase();
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(`${steps[0]!.text};
    CREATE TABLE petstore_schema (id int2 PRIMARY KEY, version int4 NOT NULL, fits int4 NOT NULL);
    INSERT INTO petstore_schema VALUES (1, 1, 1);
    INSERT INTO head VALUES (1, 'production', 'first', 2, 70, 5);
    INSERT INTO pets VALUES (7, 'Rex', NULL, '[]', '[]');
    INSERT INTO inventory VALUES (7, 3, 'sold', 2);
    INSERT INTO ledger VALUES
      (1, 7, NULL, 1, NULL, 'sold', NULL, 'import', NULL, NULL, NULL, 60),
      (2, 7, 1, 3, 'sold', 'sold', 1, 'api', 'key_a', 'req_a', NULL, 70);
    INSERT INTO keys VALUES ('key_a', 'a', 'free', 60, 1000, 'pets:read', 0, NULL, NULL);
    INSERT INTO secrets VALUES ('${digestOf("a")}', 'key_a', 0, NULL);
    INSERT INTO bans VALUES ('key_a', 10, 20, NULL);
    INSERT INTO usage (key_id, minute_start, minute_count, day_start, day_count, last_used_at,
                       wanted, strikes_minute, strikes, ban_started_at, banned_until)
      VALUES ('key_a', 60000, 4, 0, 9, 61000, 1, 60000, 2, 10, 20)`);
  const store = await open(url);
  expect(await store.inventory.readHead()).toMatchObject({ seq: 2, keysVersion: 5 });
  expect(await store.transfer.snapshot(verify)).toMatchObject({ rows: 2, entries: 1, faults: [] });
  expect((await store.inventory.commit([setUnit(7n, 4)])).rows).toMatchObject([{ seq: 3 }]);
  const used = { minuteStart: 60_000, minuteCount: 4, dayStart: 0, dayCount: 9 };
  expect(await store.usage.loadUsage()).toEqual([{ keyId: "key_a", ...used, lastUsedAt: 61_000 }]);
  expect(await sql`SELECT strikes::int4, banned_until::int4 FROM standings`).toEqual([
    { strikes: 2, banned_until: 20 },
  ] as never);
  await store.close();
  // The queries of 0.1.0 on every read, every update and every request. This state makes it send 503.
  for (const text of [
    "SELECT epoch, seq, keys_version FROM head WHERE id = 1",
    "SELECT seq, at FROM head WHERE id = 1 FOR UPDATE",
    `INSERT INTO usage (key_id, wanted) VALUES ('key_a', 1)
     ON CONFLICT (key_id) DO UPDATE SET wanted = excluded.wanted`,
  ]) {
    await expect(sql.unsafe(text).then(() => "succeeded")).rejects.toMatchObject({
      errno: "55P03",
      message: "this store needs petstore 0.2 or later",
    });
  }
  expect(await sql`SELECT fits FROM petstore_schema`).toEqual([{ fits: 4 }] as never);
});

test("a running instance of 0.3.0 can read but gets an error for every write, and adds no row without a hash", async () => {
  const url = await restore.postgres("0.3.0");
  await using sql = new SQL(url, { max: 1 });
  // A statement that the instance prepared before the migration is planned again after it.
  await sql.unsafe(`SET search_path = public; PREPARE add_row (int8, int8) AS ${rowOf030}`);
  const store = await open(url);
  const tip = await store.history.readTip();
  expect(tip.seq).toBe(12);
  const addRow = (seq: number) => sql.unsafe(`EXECUTE add_row (${seq}, 1)`).then(() => "added");
  // This state makes 0.3.0 answer 503.
  await expect(addRow(13)).rejects.toMatchObject({
    errno: "55P03",
    message: "this store needs petstore 0.4 or later",
  });
  expect(await sql`SELECT seq FROM ledger_end ORDER BY seq DESC LIMIT 1`).toEqual([
    { seq: "12" },
  ] as never);
  const [stock] = await sql`SELECT quantity::int4 FROM petstore_stock(1)`;
  expect(stock).toEqual({ quantity: 10 });
  expect(await store.history.readTip()).toEqual(tip);
  expect(await store.transfer.snapshot(verify)).toMatchObject({ rows: 12, faults: [] });
  await store.close();
});

/** How 0.3.0 adds a row: with every column that it knows. */
const rowOf030 = `INSERT INTO ledger (seq, pet_id, quantity_before, quantity_after, status_before,
    status_after, previous, cause, key_id, request_id, reason, at)
  SELECT $1, pet_id, quantity, 1, status, status, version, 'api', 'key_a', 'req_a', NULL, 70
  FROM inventory WHERE pet_id = $2`;

test("the database itself rejects a second entry of a pet and a second store", async () => {
  const url = await migratedDatabase();
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(`INSERT INTO pets VALUES (1, 'a', NULL, '[]', '[]');
    INSERT INTO inventory VALUES (1, 1, 'sold', 1)`);
  const refused = (text: string) =>
    expect(sql.unsafe(text).then(() => "written")).rejects.toThrow();
  await refused("INSERT INTO inventory VALUES (1, 2, 'sold', 1, 5)");
  await refused("INSERT INTO inventory VALUES (1, 2, 'sold', 1)");
  await refused("INSERT INTO store SELECT 2, environment, epoch, 0 FROM store");
  expect(await sql`SELECT quantity::int4 FROM inventory`).toEqual([{ quantity: 1 }] as never);
});
