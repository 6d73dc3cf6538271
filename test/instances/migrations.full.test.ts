import { afterEach, expect, test } from "bun:test";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { migratedDatabase } from "../support/postgres-template.ts";
import { restore } from "../support/release-stores.ts";
import { verifyStore } from "../support/stocking.ts";

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.leave();
  fleet = undefined;
});

async function emptyDatabase(): Promise<string> {
  return (await sharedPostgres()).freshDatabase();
}

test("instances that start at once on an empty database all serve, and one of them migrated it", async () => {
  const databaseUrl = await emptyDatabase();
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

test("a version starts beside a newer one if the newer schema still fits it, and only then", async () => {
  const databaseUrl = await migratedDatabase();
  // What a step of the next release does: it only adds.
  await withDatabase(databaseUrl, async (sql) => {
    await sql`ALTER TABLE pets ADD COLUMN origin text`;
    await sql`UPDATE petstore_schema SET version = version + 1`;
  });
  fleet = await startFleet(databaseUrl, { size: 1 });
  const { key } = await fleet.issueKey(...boundless);
  expect((await fleet.call(0, "GET", "/inventory", { key })).status).toBe(200);
  await withDatabase(databaseUrl, (sql) => sql`UPDATE petstore_schema SET fits = version`);
  const refused = await fleet.run("serve", "--port", "0");
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("was made for a newer version");
  // A running instance continues: instances are replaced one by one.
  expect((await fleet.call(0, "GET", "/inventory", { key })).status).toBe(200);
});

test("an upgrade continues the version of the store if another schema comes first on the search path", async () => {
  const databaseUrl = await restore.postgres("0.2.0");
  const name = new URL(databaseUrl).pathname.slice(1);
  await withDatabase(databaseUrl, (sql) =>
    sql.unsafe(`CREATE SCHEMA first; ALTER DATABASE ${name} SET search_path = first, public`),
  );
  expect((await verifyStore(databaseUrl)).faults).toEqual([]);
  // A second version, in the first schema, would make other instances apply the same step again.
  const versions = await withDatabase(databaseUrl, (sql) =>
    sql`SELECT count(*)::int4 FROM pg_class WHERE relname = 'petstore_schema'`.values(),
  );
  expect(versions[0]).toEqual([1]);
});
