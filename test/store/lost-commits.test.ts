import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import type { Store } from "../../src/domain/store.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { isUnconfirmed } from "../../src/store/postgres/engine/failures.ts";
import { unavailableOr, unknownOutcomeOr } from "../../src/store/sqlite/engine/connection.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { createTestClock } from "../support/clock.ts";
import { openSlowProxy } from "../support/instances/slow-network.ts";
import { petRow } from "../support/pets.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { openConnected } from "../support/postgres-store.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { addOnce, commitTo, storedOf } from "../support/store-suite/keyed-units.ts";
import { setUnit, unitOf } from "../support/units.ts";
import { until } from "../support/until.ts";

/** Commits that fail, or whose acknowledgement is lost. Most units have idempotency keys. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function withPet(store: Store): Promise<Store> {
  closing.push(() => store.close());
  await store.catalogue.importPets(
    (async function* () {
      yield [petRow({ petId: 1n })];
    })(),
    commandImport("test"),
  );
  return store;
}

/** `expect(…).rejects` would not return: it does not let messages of the writing thread arrive. */
function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Expects that nothing of the unit is stored, and that sending it again stores it once. */
async function expectStoredByRetry(store: Store): Promise<void> {
  expect((await store.inventory.readHead()).seq).toBe(1);
  const first = await commitTo(store, addOnce("a"));
  expect(first.rows).toMatchObject([{ seq: 2, after: { quantity: 1 } }]);
  const again = await commitTo(store, addOnce("a"));
  expect(again.rows).toEqual([]);
  expect(storedOf(again.outcomes[0])).toMatchObject({ isReplayed: true });
}

test.each([true, false])(
  "on SQLite neither rows nor keys of a failed commit are stored (threaded: %p)",
  async (threaded) => {
    const folder = mkdtempSync(join(tmpdir(), "petstore-lost-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "test.db");
    const clock = createTestClock();
    const store = await withPet(
      await openSqlite({ path, environment: "production", clock, threaded }),
    );
    const execute = (sql: string) => {
      using database = new Database(path, { strict: true });
      database.run(sql);
    };
    execute(`CREATE TRIGGER no_keys BEFORE INSERT ON remembered_keys
      BEGIN SELECT RAISE(ABORT, 'no keys'); END`);
    expect(await failureOf(commitTo(store, addOnce("a")))).toBeInstanceOf(Error);
    execute("DROP TRIGGER no_keys");
    await expectStoredByRetry(store);
  },
);

const thrown = (code: string, errno: number) =>
  Object.assign(new Error(code), { name: "SQLiteError", code, errno });

test("on SQLite a damaged page is reported in general words to clients, with what to do to operators", () => {
  expect(unavailableOr(thrown("SQLITE_CORRUPT", 11))).toMatchObject({
    reason: "damaged",
    message: "The store is damaged and must be repaired.",
    cause: expect.stringContaining("restore a backup"),
  });
});

test("on SQLite a commit that was written but not flushed has no known outcome, and any other error of the disk has", () => {
  const failure = (code: string, errno: number) =>
    unavailableOr(unknownOutcomeOr(thrown(code, errno)));
  expect(failure("SQLITE_IOERR_FSYNC", 1034)).toMatchObject({ reason: "unknownOutcome" });
  // The index of the log is written after the log.
  expect(failure("SQLITE_IOERR_SHMSIZE", 4874)).toMatchObject({ reason: "unknownOutcome" });
  expect(failure("SQLITE_IOERR_SHMMAP", 5386)).toMatchObject({ reason: "unknownOutcome" });
  expect(failure("SQLITE_IOERR_WRITE", 778)).toMatchObject({ reason: "unreachable" });
});

test("on PostgreSQL a commit that was cancelled has no known outcome: its procedure may have committed before", () => {
  const failure = (errno: string) =>
    Object.assign(new Error(errno), { code: "ERR_POSTGRES_SERVER_ERROR", errno });
  expect(isUnconfirmed(failure("57014"))).toBe(true);
  expect(isUnconfirmed(failure("55P03"))).toBe(false);
});

async function openAt(url: string): Promise<Store> {
  const database = createDatabase(url);
  return withPet(await openConnected({ database, environment: "production" }));
}

test("on PostgreSQL neither rows nor keys of a failed commit are stored", async () => {
  const url = await createdDatabase();
  const store = await openAt(url);
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$;
    CREATE CONSTRAINT TRIGGER no_keys AFTER INSERT ON remembered_keys
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()`);
  expect(await failureOf(commitTo(store, addOnce("a")))).toMatchObject({ code: "unavailable" });
  await sql`DROP TRIGGER no_keys ON remembered_keys`;
  await expectStoredByRetry(store);
});

test("on PostgreSQL a commit whose acknowledgement is lost is found by a retry", async () => {
  const url = await createdDatabase();
  const { port } = await sharedPostgres();
  let delayMs = 0;
  const proxy = openSlowProxy(port, () => delayMs);
  closing.push(() => proxy.close());
  const store = await openAt(url.replace(`:${port}/`, `:${proxy.port}/`));
  // Prepares every statement, so that the next commit waits for no response before its COMMIT.
  await commitTo(store, addOnce("before"));
  await using sql = new SQL(url, { max: 2 });
  const isWaiting = async () =>
    (
      await sql`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE NOT granted AND datname = current_database()`.values()
    ).length > 0;
  const { committing } = await sql.begin(async (locking) => {
    await locking`LOCK TABLE remembered_keys IN SHARE MODE`;
    const sent = commitTo(store, addOnce("a"));
    sent.catch(() => {});
    await until(isWaiting, 3_000, "the commit");
    delayMs = 1_000_000;
    return { committing: sent };
  });
  const isStored = async () => (await sql`SELECT FROM remembered_keys`.values()).length > 1;
  await until(isStored, 3_000, "the row");
  proxy.cut();
  expect(await failureOf(committing)).toMatchObject({ reason: "unknownOutcome" });
  delayMs = 0;
  const { rows, outcomes } = await commitTo(store, addOnce("a"));
  expect(rows).toEqual([]);
  expect(storedOf(outcomes[0])).toMatchObject({ isReplayed: true, entries: [{ version: 3 }] });
});

test("on PostgreSQL an instance that does not get its acknowledgement does not delay others", async () => {
  const url = await createdDatabase();
  const { port } = await sharedPostgres();
  const database = createDatabase(url);
  const other = await openConnected({ database, environment: "production" });
  closing.push(() => other.close());
  let delayMs = 0;
  const proxy = openSlowProxy(port, () => delayMs);
  closing.push(() => proxy.close());
  const slow = await openAt(url.replace(`:${port}/`, `:${proxy.port}/`));
  // Prepares every statement, so that the next commit is one message.
  for (const quantity of [1, 2]) await commitTo(slow, setUnit(1n, quantity));
  delayMs = 1_000_000;
  const held = failureOf(commitTo(slow, setUnit(1n, 3)));
  const isStored = async () => (await other.inventory.readHead()).seq === 4;
  await until(isStored, 3_000, "the commit");
  // A transaction that held the head would be ended after 1.5 seconds, and its update lost.
  const { rows } = await commitTo(other, setUnit(1n, 4));
  expect(rows).toMatchObject([{ seq: 5, before: { quantity: 3 }, after: { quantity: 4 } }]);
  proxy.cut();
  expect(await held).toMatchObject({ reason: "unknownOutcome" });
  expect((await other.inventory.readHead()).seq).toBe(5);
});

test("on PostgreSQL a change whose head was locked too late for its callers is not stored", async () => {
  const url = await createdDatabase();
  const { port } = await sharedPostgres();
  let delayMs = 0;
  const proxy = openSlowProxy(port, () => delayMs);
  closing.push(() => proxy.close());
  const store = await openAt(url.replace(`:${port}/`, `:${proxy.port}/`));
  const add = unitOf({ petId: 1n, kind: "add", amount: 5 });
  // Prepares every statement.
  await store.inventory.commit([add]);
  delayMs = 700;
  // The instance decides about it, so the head is locked in a round trip before.
  expect(await failureOf(store.inventory.commit([add], 300))).toMatchObject({ reason: "timeout" });
  delayMs = 0;
  const { rows } = await store.inventory.commit([add]);
  expect(rows).toMatchObject([{ before: { quantity: 5 }, after: { quantity: 10 } }]);
});
