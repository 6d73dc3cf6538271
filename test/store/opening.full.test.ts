import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { petRow } from "../support/pets.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { makeServerFolder } from "../support/postgres-binaries.ts";
import { startStandby } from "../support/postgres-standby.ts";
import { openWorkspace } from "../support/process.ts";
import { setUnit } from "../support/units.ts";

const socketFolder = makeServerFolder();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ settings: { unix_socket_directories: socketFolder } });
});
afterAll(() => server.destroy());

const open = (url: string) =>
  openPostgres({ database: createDatabase(url), environment: "production", patienceMs: 0 });

async function run(url: string, text: string): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(text);
}

/** A database, and its address for a role with no rights except those that tests grant. */
async function asGuest(name: string): Promise<{ url: string; guest: string }> {
  const url = await server.freshDatabase();
  const place = new URL(url).pathname.slice(1);
  await run(url, `CREATE ROLE ${name} LOGIN; REVOKE TEMPORARY ON DATABASE ${place} FROM PUBLIC`);
  return { url, guest: url.replace("postgres@", `${name}@`) };
}

test("a start on a standby fails with that reason", async () => {
  const standby = await startStandby(server, { synchronous: false });
  try {
    await expect(open(standby.url())).rejects.toThrow(
      "the server is a standby; use the primary's address",
    );
  } finally {
    await standby.destroy();
  }
});

test("a start on a server that is set read-only names the setting", async () => {
  const url = await server.freshDatabase();
  const name = new URL(url).pathname.slice(1);
  await run(server.url(), `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await expect(open(url)).rejects.toThrow("default_transaction_read_only is on");
});

test("a first start without the right to create tables names the missing right and creates nothing", async () => {
  const { url, guest } = await asGuest("stranger");
  await expect(open(guest)).rejects.toThrow(
    /permission denied for schema public; docs\/postgresql.md/,
  );
  await using sql = new SQL(url, { max: 1 });
  expect(await sql`SELECT to_regclass('petstore_schema')::text AS made`).toEqual([
    { made: null },
  ] as never);
});

/** The tables from which a role must be able to delete. */
const deleted =
  "remembered_keys, checkpoint_parts, webhooks, webhook_attempts, pets, inventory, sessions, usage_points, sales, requests, made";

test("a start without a right on a table names the right and the table", async () => {
  const { url, guest } = await asGuest("clerk");
  await (await open(url)).close();
  await run(
    url,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO clerk;
     REVOKE INSERT ON ledger FROM clerk; REVOKE UPDATE ON counts FROM clerk`,
  );
  await expect(open(guest)).rejects.toThrow(
    "the role clerk needs INSERT on ledger, UPDATE on counts",
  );
});

test("a start without the right to call a function names the function", async () => {
  const { url, guest } = await asGuest("caller");
  await (await open(url)).close();
  await run(
    url,
    `GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO caller;
     GRANT DELETE ON ${deleted} TO caller;
     REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA public FROM PUBLIC`,
  );
  const functions = [
    ...["petstore_stock", "petstore_entry", "petstore_rows", "petstore_seq_at"],
    ...["petstore_pet_rows", "petstore_pet_row_before", "petstore_take"],
    ...["petstore_give_back", "petstore_set_quantities", "petstore_chain", "petstore_row_text"],
  ];
  await expect(open(guest)).rejects.toThrow(
    `the role caller needs ${functions.map((name) => `EXECUTE on ${name}`).join(", ")}`,
  );
  const place = new URL(url).pathname.slice(1);
  await run(
    url,
    `GRANT EXECUTE ON ROUTINE ${functions.join()} TO caller;
     GRANT TEMPORARY ON DATABASE ${place} TO caller`,
  );
  const store = await open(guest);
  const rows = async function* () {
    yield [petRow({ petId: 1n }, 0)];
  };
  expect(await store.catalogue.importPets(rows(), commandImport("test"))).toMatchObject({
    created: 1,
  });
  expect((await store.inventory.commit([setUnit(1n, 3)])).rows).toMatchObject([{ seq: 2 }]);
  await store.close();
});

test("a role with the documented rights receives another store and serves it", async () => {
  const source = await open(await server.freshDatabase());
  const rows = async function* () {
    yield [petRow({ petId: 1n }, 0)];
  };
  await source.catalogue.importPets(rows(), commandImport("test"));
  const { url, guest } = await asGuest("receiver");
  await (await open(url)).close();
  await run(
    url,
    `GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO receiver;
     GRANT DELETE ON ${deleted} TO receiver`,
  );
  const store = await open(guest);
  await source.transfer.snapshot(({ rowsOf }) => store.transfer.importTables(rowsOf));
  expect((await store.inventory.commit([setUnit(1n, 3)])).rows).toMatchObject([{ seq: 2 }]);
  expect(await store.inventory.listEpochs()).toMatchObject([{ fromSeq: 0 }, { fromSeq: 1 }]);
  await source.close();
  await store.close();
});

test("an import without TEMPORARY names the right and changes nothing; everything else works", async () => {
  const { url, guest } = await asGuest("porter");
  await (await open(url)).close();
  await run(url, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO porter");
  const store = await open(guest);
  const rows = async function* () {
    yield [petRow({ petId: 1n }, 0)];
  };
  await expect(store.catalogue.importPets(rows(), commandImport("test"))).rejects.toThrow(
    "needs TEMPORARY on the database",
  );
  expect(await store.inventory.readHead()).toMatchObject({ seq: 0 });
  const owner = await open(url);
  await owner.catalogue.importPets(rows(), commandImport("test"));
  await owner.close();
  expect((await store.inventory.commit([setUnit(1n, 3)])).rows).toMatchObject([
    { after: { quantity: 3 } },
  ]);
  await store.close();
});

test("a store is reached through a socket, whatever the PG* variables contain", async () => {
  const url = await server.freshDatabase();
  const name = new URL(url).pathname.slice(1);
  const place = openWorkspace();
  try {
    const address = `postgres://postgres@/${name}?host=${socketFolder}&port=${server.port}`;
    const env = { PGHOST: "192.0.2.1", PGPORT: "1", PGDATABASE: "elsewhere", PGUSER: "nobody" };
    const ran = await place.run(
      ["keys", "create", "--name", "a", "--plan", "free", "--database", address],
      { env },
    );
    expect(ran).toMatchObject({ code: 0 });
    await using sql = new SQL(url, { max: 1 });
    expect(await sql`SELECT count(*)::int4 AS keys FROM keys`).toEqual([{ keys: 1 }] as never);
  } finally {
    await place.leave();
  }
});
