import { expect, test } from "bun:test";
import { SQL } from "bun";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import type { Store } from "../../src/domain/store.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { setUnit } from "../support/units.ts";

const open = (url: string): Promise<Store> =>
  openPostgres({ database: createDatabase(url), environment: "production", patienceMs: 0 });

test("instances that start together on an empty database create one store", async () => {
  const url = await (await sharedPostgres()).freshDatabase();
  const stores = await Promise.all(Array.from({ length: 8 }, () => open(url)));
  const heads = await Promise.all(stores.map((store) => store.inventory.readHead()));
  expect(new Set(heads.map(({ epoch }) => epoch)).size).toBe(1);
  await using sql = new SQL(url, { max: 1 });
  expect(await sql`SELECT count(*)::int AS heads FROM store`).toEqual([{ heads: 1 }] as never);
  await Promise.all(stores.map((store) => store.close()));
});

test("a column added while an instance runs does not affect it", async () => {
  const url = await createdDatabase();
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

test("the database itself rejects a second entry of a pet, a row without a hash and a second store", async () => {
  const url = await createdDatabase();
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(`INSERT INTO pets VALUES (1, 'a', NULL, '[]', '[]');
    INSERT INTO inventory VALUES (1, 1, 'sold', 1)`);
  const refused = (text: string) =>
    expect(sql.unsafe(text).then(() => "written")).rejects.toThrow();
  await refused("INSERT INTO inventory VALUES (1, 2, 'sold', 1, 5)");
  await refused("INSERT INTO inventory VALUES (1, 2, 'sold', 1)");
  await refused(
    "INSERT INTO ledger VALUES (1, 1, NULL, 1, NULL, 'sold', NULL, 'api', 'k', 'r', NULL, 1, NULL)",
  );
  await refused("INSERT INTO store SELECT 2, environment, epoch, 0 FROM store");
  expect(await sql`SELECT quantity::int4 FROM inventory`).toEqual([{ quantity: 1 }] as never);
});
