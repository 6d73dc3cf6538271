import { afterEach, beforeEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let key: string;
beforeEach(async () => {
  service = await startTestService("postgres");
  await service.addPets({ petId: 1n, quantity: 5 }, { petId: 2n });
  key = (await service.issueKey()).text;
});
afterEach(() => service.stop());

/** Sends one request of each kind, several at once. Returns the statuses. */
async function useEveryTable(quantity: number): Promise<number[]> {
  const reads = [
    "/inventory",
    "/inventory/1",
    "/pets/1",
    "/store/orders",
    "/changes",
    "/inventory/1/history",
  ];
  const update = { key, body: `{"quantity":${quantity}}` };
  const responses = await Promise.all([
    ...reads.map((path) => service.call("GET", path, { key })),
    service.call("PATCH", "/inventory/1", update),
    service.call("PATCH", "/inventory/2", {
      ...update,
      headers: { "Idempotency-Key": `"${quantity}"` },
    }),
  ]);
  return responses.map(({ status }) => status);
}

const allSucceed = Array(8).fill(200);

/** Prepares every statement. The first ones are slow, and may be too slow on a busy machine. */
async function useEveryTableOften(): Promise<void> {
  for (let quantity = 1; quantity < 5; quantity++) {
    const haveSucceeded = async () => Bun.deepEquals(await useEveryTable(quantity), allSucceed);
    await until(haveSucceeded, 10_000, "every request");
  }
}

test("columns that are added to every table while the service runs fail no request", async () => {
  await useEveryTableOften();
  await using sql = new SQL(service.databaseUrl, { max: 1 });
  const tables = await sql`SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`.values();
  for (const [name] of tables)
    await sql.unsafe(`ALTER TABLE ${name} ADD COLUMN added text DEFAULT 'x'`);
  for (let quantity = 5; quantity < 9; quantity++) {
    expect(await useEveryTable(quantity)).toEqual(allSucceed);
  }
});

test("statements that were prepared before the type of a column changed are prepared again, and no request fails", async () => {
  await useEveryTableOften();
  await using sql = new SQL(service.databaseUrl, { max: 1 });
  await sql.unsafe(`ALTER TABLE pets ALTER COLUMN name TYPE varchar;
    ALTER TABLE orders ALTER COLUMN status TYPE varchar`);
  for (let quantity = 5; quantity < 9; quantity++) {
    expect(await useEveryTable(quantity)).toEqual(allSucceed);
  }
  expect(service.logged.filter((line) => line.includes("bug"))).toEqual([]);
});

test("a transaction with an outdated statement runs again on a new session, and statements of others end", async () => {
  const database = createDatabase(service.databaseUrl);
  try {
    await using sql = new SQL(service.databaseUrl, { max: 1 });
    await sql.unsafe("CREATE TABLE changing (one int4); INSERT INTO changing VALUES (1)");
    const { query, exclusive } = database.connection(5_000);
    const all = "SELECT * FROM changing";
    let runs = 0;
    const work = () =>
      exclusive(async (session) => {
        runs += 1;
        await session.query("BEGIN");
        await session.query("UPDATE changing SET one = one + 1");
        const rows = await session.query(all);
        await session.query("COMMIT");
        return rows;
      });
    expect(await work()).toEqual([[2]]);
    await sql`ALTER TABLE changing ADD COLUMN two text DEFAULT 'b'`;
    expect(await work()).toEqual([[3, "b"]]);
    expect(runs).toBe(3);
    await sql`ALTER TABLE changing ADD COLUMN three text DEFAULT 'c'`;
    const slow = query("SELECT pg_sleep(0.3)");
    const read = await Promise.all(Array.from({ length: 10 }, () => query(all)));
    expect(read).toEqual(Array(10).fill([[3, "b", "c"]]));
    expect(await slow).toHaveLength(1);
  } finally {
    database.close();
  }
});
