import { expect, test } from "bun:test";
import { SQL } from "bun";
import type { Store } from "../../src/domain/ports.ts";
import { createDatabase } from "../../src/store/postgres/database.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { sharedPostgres } from "../postgres.ts";
import { migratedDatabase } from "../postgresTemplate.ts";

const open = (url: string): Promise<Store> =>
  openPostgres({ database: createDatabase(url), environment: "production", patienceMs: 0 });

test("instances that start together on an empty database migrate it once", async () => {
  const url = await (await sharedPostgres()).freshDatabase();
  const stores = await Promise.all(Array.from({ length: 8 }, () => open(url)));
  const heads = await Promise.all(stores.map((store) => store.look()));
  expect(new Set(heads.map(({ epoch }) => epoch)).size).toBe(1);
  await using sql = new SQL(url, { max: 1 });
  expect(await sql`SELECT count(*)::int AS heads FROM head`).toEqual([{ heads: 1 }] as never);
  await Promise.all(stores.map((store) => store.close()));
});

test("an instance serves a newer schema that still fits it, and refuses one that does not", async () => {
  const url = await migratedDatabase();
  await using sql = new SQL(url, { max: 1 });
  await sql`UPDATE petstore_schema SET version = version + 1`;
  await sql`ALTER TABLE inventory ADD COLUMN shelf text`;
  const older = await open(url);
  expect(await older.entriesAfter(null, 10)).toEqual([]);
  await older.close();
  await sql`UPDATE petstore_schema SET fits = version`;
  await expect(open(url)).rejects.toThrow("newer version of petstore");
});

test("a column added while an instance runs does not disturb it", async () => {
  const url = await migratedDatabase();
  const store = await open(url);
  const pet = { petId: 1n, line: 1, name: "a", quantity: 1, status: undefined };
  const rest = { category: undefined, tags: undefined, photoUrls: undefined };
  await store.importPets(
    (async function* () {
      yield [{ ...pet, ...rest }];
    })(),
    "test",
  );
  const change = { petId: 1n, cause: "api", keyId: null, requestId: null, reason: null } as const;
  const set = (quantity: number) => store.commit([{ ...change, quantity }]);
  for (let quantity = 2; quantity < 10; quantity++) await set(quantity);
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(`ALTER TABLE inventory ADD COLUMN shelf text;
    ALTER TABLE ledger ADD COLUMN shelf text; ALTER TABLE head ADD COLUMN shelf text`);
  expect(await set(10)).toMatchObject([{ quantity: 10, version: 10 }]);
  expect(await store.entriesAfter(null, 10)).toMatchObject([{ quantity: 10 }]);
  expect((await store.look()).seq).toBe(10);
  await store.close();
});
