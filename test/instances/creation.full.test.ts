import { afterEach, expect, test } from "bun:test";
import { schemaNumber } from "../../src/store/schema.ts";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { setSchemaNumber } from "../support/stored-rows.ts";

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.leave();
  fleet = undefined;
});

test("instances that start at once on an empty database all serve one store", async () => {
  const databaseUrl = await (await sharedPostgres()).freshDatabase();
  fleet = await startFleet(databaseUrl, { size: 3 });
  const { key } = await fleet.issueKey(...boundless);
  const tags = await Promise.all(
    [0, 1, 2].map(async (index) => {
      expect((await fleet!.call(index, "GET", "~/readyz")).status).toBe(200);
      const list = await fleet!.call(index, "GET", "/inventory", { key });
      expect(list.status).toBe(200);
      return list.headers.get("etag");
    }),
  );
  // One store with one epoch: no instance made a second one or replaced the first.
  expect(new Set(tags).size).toBe(1);
  const [schema, head] = await withDatabase(databaseUrl, (sql) =>
    Promise.all([
      sql`SELECT count(*)::int4 FROM petstore_schema`.values(),
      sql`SELECT count(*)::int4 FROM store`.values(),
    ]),
  );
  expect([schema[0], head[0]]).toEqual([[1], [1]]);
});

test("an instance does not start on a store of another version, and those that serve it continue", async () => {
  const databaseUrl = await createdDatabase();
  fleet = await startFleet(databaseUrl, { size: 1 });
  const { key } = await fleet.issueKey(...boundless);
  expect((await fleet.call(0, "GET", "/inventory", { key })).status).toBe(200);
  await setSchemaNumber(databaseUrl, schemaNumber + 1);
  const refused = await fleet.run("serve", "--port", "0");
  expect(refused.code).toBe(2);
  expect(refused.err).toContain(`the store has schema ${schemaNumber + 1}, but this version needs`);
  expect((await fleet.call(0, "GET", "/inventory", { key })).status).toBe(200);
});

test("a store is found if another schema comes first on the search path", async () => {
  const databaseUrl = await createdDatabase();
  const name = new URL(databaseUrl).pathname.slice(1);
  await withDatabase(databaseUrl, (sql) =>
    sql.unsafe(`CREATE SCHEMA first; ALTER DATABASE ${name} SET search_path = first, public`),
  );
  fleet = await startFleet(databaseUrl, { size: 1 });
  expect((await fleet.call(0, "GET", "~/readyz")).status).toBe(200);
  const stores = await withDatabase(databaseUrl, (sql) =>
    sql`SELECT count(*)::int4 FROM pg_class WHERE relname = 'petstore_schema'`.values(),
  );
  expect(stores[0]).toEqual([1]);
});
