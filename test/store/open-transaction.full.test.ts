import { afterEach, beforeEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { scopes } from "../../src/domain/keys/keys.ts";
import type { Unit } from "../../src/domain/ledger/ledger.ts";
import type { Store } from "../../src/domain/store.ts";
import { createCatalogueReader } from "../../src/store/postgres/catalogue.ts";
import { commit } from "../../src/store/postgres/commit.ts";
import { createDatabase, type Database } from "../../src/store/postgres/engine/database.ts";
import type { Session } from "../../src/store/postgres/engine/session.ts";
import { createEpochs, type Epochs } from "../../src/store/postgres/epochs.ts";
import { createIdempotencyMemory } from "../../src/store/postgres/idempotency.ts";
import { createSharedUsage } from "../../src/store/postgres/usage.ts";
import { anEntry } from "../support/audit.ts";
import { petRow } from "../support/pets.ts";
import { openConnected } from "../support/postgres-store.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { setUnit, termsNow, unitOf } from "../support/units.ts";

const changes = 2_000;
/** How many more pages may be read than at first. The versions that are kept fill over 40. */
const morePagesMax = 20;

let database: Database;
let store: Store;
let session: Session;
let epochs: Epochs;
let forgotten: SQL;
let vacuuming: SQL;
beforeEach(async () => {
  const url = await createdDatabase();
  database = createDatabase(url);
  store = await openConnected({ database, environment: "production" });
  session = await database.connect();
  epochs = createEpochs(session.server);
  forgotten = new SQL(url, { max: 1 });
  vacuuming = new SQL(url, { max: 1 });
  // The statistics count the pages of all sessions, so autovacuum must not read any meanwhile.
  for (const [table] of await vacuuming`SELECT tablename FROM pg_tables
    WHERE schemaname = current_schema()`.values())
    await vacuuming.unsafe(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
});
afterEach(async () => {
  session.close();
  await forgotten.close({ timeout: 0 });
  await vacuuming.close();
  await store.close();
});

/** Runs work, and returns how many pages of tables and indexes it read. */
async function pagesOf(work: (one: Session) => Promise<unknown>): Promise<number> {
  const before = await pagesRead();
  await work(session);
  return (await pagesRead()) - before;
}

/** How many pages all sessions have read since the database was created. */
async function pagesRead(): Promise<number> {
  await session.query("SELECT pg_stat_force_next_flush()");
  const [row] = await session.query(
    `SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int8
     FROM pg_statio_user_tables`,
  );
  return Number(row![0]);
}

const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
const take = (one: Session) =>
  createSharedUsage(one.query).take([{ keyId: "key_a", limits, wanted: 1 }]);

/** Adds pets, each with one update, and a key. */
async function fill(pets: number): Promise<void> {
  await store.catalogue.importPets(
    (async function* () {
      for (let petId = 1n; petId <= pets; petId++) yield [petRow({ petId }, 0)];
    })(),
    commandImport("test"),
  );
  await commit(
    session,
    { epochs, idempotency: createIdempotencyMemory() },
    set(pets, 0),
    termsNow(),
  );
  const terms = {
    plan: "free",
    limits,
    scopes,
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  } as const;
  await store.keys.addKey({ id: "key_a", name: "test", ...terms }, digestOf("a"), anEntry);
}

/** Sets the first pets to one quantity. */
const set = (pets: number, quantity: number) =>
  Array.from({ length: pets }, (_, n) => setUnit(BigInt(n + 1), quantity));

/** Adds to the first pets. The database does not apply such units itself. */
const add = (pets: number, amount: number) =>
  Array.from({ length: pets }, (_, n) => unitOf({ petId: BigInt(n + 1), kind: "add", amount }));

const commitUnits = (units: readonly Unit[]) => (one: Session) =>
  commit(one, { epochs, idempotency: createIdempotencyMemory() }, units, termsNow());

test("a transaction that is left open does not make counts and commits read more and more pages", async () => {
  await fill(1);
  const pages = async () => ({
    take: await pagesOf(take),
    set: await pagesOf(commitUnits(set(1, 1))),
    add: await pagesOf(commitUnits(add(1, 1))),
  });
  await take(session);
  // Prepares all statements.
  await pages();
  using open = await forgotten.reserve();
  await open`BEGIN ISOLATION LEVEL REPEATABLE READ`;
  await open`SELECT count(*) FROM pets`;
  const before = await pages();
  for (let change = 1; change <= changes; change++) {
    await commit(
      session,
      { epochs, idempotency: createIdempotencyMemory() },
      set(1, change),
      termsNow(),
    );
    await take(session);
  }
  // As autovacuum does every minute. The planner then knows how few rows there are.
  await vacuuming.unsafe("VACUUM ANALYZE");
  const after = await pages();
  expect(after.take - before.take).toBeLessThan(morePagesMax);
  expect(after.set - before.set).toBeLessThan(morePagesMax);
  expect(after.add - before.add).toBeLessThan(morePagesMax);
  expect((await store.inventory.readHead()).seq).toBe(2 + 6 + changes);
  await open`ROLLBACK`;
});

test("no ANALYZE makes a count, a commit of few pets or a read of one visit all row versions", async () => {
  const pets = 20;
  await fill(pets);
  await take(session);
  using open = await forgotten.reserve();
  await open`BEGIN ISOLATION LEVEL REPEATABLE READ`;
  await open`SELECT txid_current()`;
  const find = async (one: Session) => createCatalogueReader(one.query, one.query).findPet(1n);
  const pages = async () => ({
    take: await pagesOf(take),
    set: await pagesOf(commitUnits(set(pets, 1))),
    add: await pagesOf(commitUnits(add(pets, 1))),
    find: await pagesOf(find),
  });
  // Prepares all statements.
  await pages();
  const before = await pages();
  for (let round = 1; round <= 20; round++) {
    for (let n = 1; n <= 25; n++) {
      await commit(
        session,
        { epochs, idempotency: createIdempotencyMemory() },
        set(pets, 100 * round + n),
        termsNow(),
      );
      await take(session);
    }
    // Each samples other rows and may make the planner choose another plan.
    await vacuuming.unsafe("ANALYZE inventory, counts");
    const after = await pages();
    expect(after.take - before.take).toBeLessThan(morePagesMax);
    expect((after.set - before.set) / pets).toBeLessThan(10);
    expect((after.add - before.add) / pets).toBeLessThan(10);
    expect(after.find - before.find).toBeLessThan(morePagesMax);
  }
  await open`ROLLBACK`;
});
