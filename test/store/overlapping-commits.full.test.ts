import { afterEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import type { Committed, Unit } from "../../src/domain/ledger/ledger.ts";
import type { Store } from "../../src/domain/store.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { callMsMax } from "../../src/store/postgres/plain-updates.ts";
import { anEntry } from "../support/audit.ts";
import { turns } from "../support/committing.ts";
import { openSlowProxy } from "../support/instances/slow-network.ts";
import { petRow } from "../support/pets.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { openConnected } from "../support/postgres-store.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { verifyStore } from "../support/stocking.ts";
import { addOnce } from "../support/store-suite/keyed-units.ts";
import { keyNamed } from "../support/store-suite/suite.ts";
import { setUnit, unitOf, versionOrReason } from "../support/units.ts";
import { pass, until } from "../support/until.ts";

/** Groups that a store of PostgreSQL commits although the groups before them are still under way. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const pets = 4;

const setting = (petId: bigint, quantity: number) =>
  setUnit(petId, quantity, { keyId: "key_a", requestId: "req_a" });

async function open(url: string): Promise<Store> {
  const database = createDatabase(url);
  const store = await openConnected({ database, environment: "production" });
  closing.push(() => store.close());
  // Also reads the clock of the server every second.
  database.watch();
  await store.catalogue.importPets(
    (async function* () {
      yield Array.from({ length: pets }, (_, at) => petRow({ petId: BigInt(at + 1) }));
    })(),
    commandImport("test"),
  );
  await store.keys.addKey(keyNamed("key_a"), digestOf("key_a"), anEntry);
  // Records the epoch and prepares the statement, so that the next groups take one round trip.
  for (const quantity of [1, 2]) await store.inventory.commit([setting(1n, quantity)]);
  return store;
}

/** Locks the ledger's head until `release` is called. */
async function lockHead(url: string) {
  const sql = new SQL(url, { max: 2 });
  closing.push(() => sql.close());
  const released = Promise.withResolvers<void>();
  const isLocked = Promise.withResolvers<void>();
  const lock = sql.begin(async (locking) => {
    await locking`SELECT FROM store FOR UPDATE`;
    isLocked.resolve();
    await released.promise;
  });
  await isLocked.promise;
  const waiting = () =>
    sql`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.values();
  return {
    sql,
    waiting,
    async release() {
      released.resolve();
      await lock;
    },
  };
}

describe.each(["", "?prepare=false"])("with connections %p", (parameters) => {
  test("groups that are sent together are all stored, whatever they contain", async () => {
    const url = `${await createdDatabase()}${parameters}`;
    const store = await open(url);
    const before = (await store.inventory.readHead()).seq;
    const kinds: ((round: number) => Unit)[] = [
      (round) => setting(1n, round),
      (round) => setting(2n, round),
      (round) => setting(99n, round),
      () => unitOf({ petId: 3n, kind: "add", amount: 1 }),
      (round) => addOnce(`key ${Math.floor(round / 6) % 3}`, 5),
      (round) => setting(1n, round + 1),
    ];
    const committed: Committed[] = [];
    // Six groups are done within the time of a commit, also on a busy machine.
    while (committed.length < 60) {
      const groups = Array.from({ length: 6 }, (_, at) => {
        const round = committed.length + at;
        return store.inventory.commit([kinds[round % kinds.length]!(round), setting(4n, round)]);
      });
      committed.push(...(await Promise.all(groups)));
    }
    // The second unit of each group is always stored, so the last one tells the order.
    const versions = committed.map(({ outcomes }) => versionOrReason(outcomes[1]!));
    expect(versions.every((version) => typeof version === "number")).toBe(true);
    const plain = versions.filter((_, round) => round % kinds.length < 2);
    expect(plain).toEqual(plain.toSorted((one, other) => Number(one) - Number(other)));
    const rows = committed.flatMap((one) => one.rows).sort((one, other) => one.seq - other.seq);
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => before + 1 + at));
    // Of each kind there are ten. One names an unknown pet, and one has three different keys.
    expect(rows).toHaveLength(60 + 4 * 10 + 3);
    expect(await verifyStore(url)).toMatchObject({ faultCount: 0 });
  });
});

test("groups are stored although the responses to those before them have not arrived", async () => {
  const url = await createdDatabase();
  const { port } = await sharedPostgres();
  let delayMs = 0;
  const proxy = openSlowProxy(port, () => delayMs);
  closing.push(() => proxy.close());
  const store = await open(url.replace(`:${port}/`, `:${proxy.port}/`));
  const before = (await store.inventory.readHead()).seq;
  delayMs = 1_000_000;
  const groups = [3, 4, 5].map((quantity) => store.inventory.commit([setting(1n, quantity)]));
  const settled = Promise.allSettled(groups);
  await using sql = new SQL(url, { max: 1 });
  const stored = () =>
    sql`SELECT quantity_before, quantity_after FROM ledger
    WHERE seq > ${before} ORDER BY seq`.values();
  await until(async () => (await stored()).length === 3, 3_000, "the groups");
  expect(JSON.stringify(await stored())).toBe('[["2","3"],["3","4"],["4","5"]]');
  proxy.cut();
  const unavailable = { status: "rejected", reason: { code: "unavailable" } };
  expect(await settled).toMatchObject([unavailable, unavailable, unavailable]);
});

test("if the connection is lost, no group under way is reported as stored, and the next ones are", async () => {
  const url = await createdDatabase();
  const store = await open(url);
  const before = (await store.inventory.readHead()).seq;
  const head = await lockHead(url);
  const groups = [3, 4, 5].map((quantity) => store.inventory.commit([setting(1n, quantity)]));
  const settled = Promise.allSettled(groups);
  await until(async () => (await head.waiting()).length > 0, 3_000, "the first group");
  const [[pid] = []] = await head.waiting();
  await head.sql`SELECT pg_terminate_backend(${pid})`;
  const unavailable = { status: "rejected", reason: { code: "unavailable" } };
  expect(await settled).toMatchObject([unavailable, unavailable, unavailable]);
  await head.release();
  expect((await store.inventory.readHead()).seq).toBe(before);
  const { rows } = await store.inventory.commit([setting(1n, 6)]);
  expect(rows).toMatchObject([{ before: { quantity: 2 }, after: { quantity: 6 } }]);
});

test("a group that fails does not affect the groups behind it", async () => {
  const url = await createdDatabase();
  const store = await open(url);
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER no_four BEFORE INSERT ON ledger FOR EACH ROW
      WHEN (NEW.quantity_after = 4) EXECUTE FUNCTION fail()`);
  const groups = [3, 4, 5].map((quantity) => store.inventory.commit([setting(1n, quantity)]));
  const settled = await Promise.allSettled(groups);
  expect(settled).toMatchObject([
    { status: "fulfilled", value: { rows: [{ after: { quantity: 3 } }] } },
    { status: "rejected", reason: { code: "unavailable" } },
    { status: "fulfilled", value: { rows: [{ before: { quantity: 3 }, after: { quantity: 5 } }] } },
  ]);
});

test("groups that the database begins late are stored nevertheless, one after the other", async () => {
  const url = await createdDatabase();
  const store = await open(url);
  const before = (await store.inventory.readHead()).seq;
  const head = await lockHead(url);
  const groups = [3, 4, 5].map((quantity) => store.inventory.commit([setting(1n, quantity)]));
  // Longer than a call waits for the head.
  await pass(callMsMax + 300);
  await head.release();
  const committed = await Promise.all(groups);
  expect(committed.map(({ rows }) => rows[0]!.seq)).toEqual([1, 2, 3].map((row) => before + row));
  // Until the database applies a group at once again, none overlaps.
  const next = [setting(1n, 6)];
  expect(store.inventory.mayOverlap(next)).toBe(false);
  await store.inventory.commit(next);
  expect(store.inventory.mayOverlap(next)).toBe(true);
});

test("a group whose callers got an error is not stored after an update that was sent later", async () => {
  const url = await createdDatabase();
  const store = await open(url);
  const before = (await store.inventory.readHead()).seq;
  const head = await lockHead(url);
  const groups = [3, 4, 5].map((quantity) => store.inventory.commit([setting(1n, quantity)]));
  // The first waits for the head for three seconds. Its instance then gives up the others, too.
  const settled = await Promise.allSettled(groups);
  const unavailable = { status: "rejected", reason: { code: "unavailable" } };
  expect(settled).toMatchObject([unavailable, unavailable, unavailable]);
  const later = store.inventory.commit([setting(1n, 6)]);
  await until(async () => (await head.waiting()).length > 0, 3_000, "the later update");
  await head.release();
  const { rows } = await later;
  expect(rows).toMatchObject([{ after: { quantity: 6 } }]);
  // The server may still work on what it has received from the connection that was given up.
  const active = () =>
    head.sql`SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`.values();
  await until(async () => (await active()).length === 0, 5_000, "the server");
  const stored = await head.sql`SELECT quantity_after FROM ledger WHERE seq > ${before}`.values();
  expect(JSON.stringify(stored)).toBe('[["6"]]');
});

test("a connection does not keep the results of work that has ended", async () => {
  const database = createDatabase(await createdDatabase());
  closing.push(() => database.close());
  const { shared } = database.connection(3_000);
  const results: WeakRef<object>[] = [];
  const work = async () => {
    const result = { bytes: new Uint8Array(1_000) };
    results.push(new WeakRef(result));
    return result;
  };
  for (let count = 0; count < 100; count++) await shared(work);
  await turns(2);
  Bun.gc(true);
  // The collector may take something on the stack for a reference.
  expect(results.filter((one) => one.deref()).length).toBeLessThan(10);
});
