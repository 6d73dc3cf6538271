import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { readConfig } from "../../src/config.ts";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { commit } from "../../src/store/postgres/commit.ts";
import { createPrimaryGuard, type PrimaryGuard } from "../../src/store/postgres/engine/primary.ts";
import { openSession, type Session } from "../../src/store/postgres/engine/session.ts";
import { createEpochs } from "../../src/store/postgres/epochs.ts";
import { createIdempotencyMemory } from "../../src/store/postgres/idempotency.ts";
import { createInventoryReader } from "../../src/store/postgres/inventory.ts";
import { petRow } from "../support/pets.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { type Standby, startStandby } from "../support/postgres-standby.ts";
import { setUnit, termsNow } from "../support/units.ts";
import { until } from "../support/until.ts";

/**
 * Behind a pooler each statement may reach another server than the one the connection was opened
 * to. These tests do the same with two open connections: one to an old primary, one to the standby
 * that was promoted.
 */

let primary: PostgresServer;
let standby: Standby;
let oldUrl: string;
let guard: PrimaryGuard;
let before: Session;
let after: Session;
const logged: string[] = [];
beforeAll(async () => {
  primary = await startPostgres();
  oldUrl = await primary.freshDatabase();
  const store = await openOrCreateStore(readConfig({ database: oldUrl }, {}), systemClock);
  await store.catalogue.importPets(
    (async function* () {
      yield [petRow({ petId: 1n, quantity: 5 })];
    })(),
    commandImport("test"),
  );
  await store.close();
  standby = await startStandby(primary, { synchronous: true });
  guard = createPrimaryGuard((event) => logged.push(event));
  before = await openSession(oldUrl, true, guard);
  await standby.promote();
  // The old primary no longer waits for the standby: it accepts writes that will be lost.
  await using sql = new SQL(primary.url(), { max: 1 });
  await sql`ALTER SYSTEM RESET synchronous_standby_names`;
  await sql`SELECT pg_reload_conf()`;
  after = await openSession(standby.url(new URL(oldUrl).pathname.slice(1)), true, guard);
});
afterAll(async () => {
  before.close();
  after.close();
  await Promise.all([primary.destroy(), standby.destroy()]);
});

const wrongServer = "moved to another server";

test("a page from an old primary is rejected, also an empty one", async () => {
  const reader = createInventoryReader(
    createEpochs(after.server),
    guard,
    after.query,
    before.query,
  );
  const { seq, epoch } = await reader.readHead();
  expect(seq).toBe(1);
  expect(epoch).toEndWith(".2");
  await expect((async () => reader.entriesAfter(null, 10))()).rejects.toThrow(wrongServer);
  await expect((async () => reader.entriesAfter(1n, 10))()).rejects.toThrow(wrongServer);
  await expect((async () => reader.stockAfter(0, 10))()).rejects.toThrow(wrongServer);
  await expect((async () => reader.stockAfter(1, 10))()).rejects.toThrow(wrongServer);
});

test("a head from an old primary is rejected, and its epoch is outdated", async () => {
  const reader = createInventoryReader(
    createEpochs(before.server),
    guard,
    before.query,
    before.query,
  );
  await expect((async () => reader.readHead())()).rejects.toThrow(wrongServer);
  expect(reader.isOutdated("epoch-1.1")).toBe(true);
  expect(reader.isOutdated("epoch-1.2")).toBe(false);
});

const unit = setUnit(1n, 6);

test("an update on an old primary is rejected before it is written", async () => {
  await expect(
    commit(
      before,
      { epochs: createEpochs(before.server), idempotency: createIdempotencyMemory() },
      [unit],
      termsNow(),
    ),
  ).rejects.toThrow(wrongServer);
  await before.sql`ROLLBACK`;
  expect(await before.query("SELECT max(seq) FROM ledger")).toEqual([[1n]]);
  expect(await before.query("SELECT quantity FROM inventory")).toEqual([[5n]]);
});

test("an update committed by an old primary is not acknowledged if a newer primary is known by then", async () => {
  const unaware = createPrimaryGuard(() => {});
  const session = await openSession(oldUrl, true, unaware);
  await using sql = new SQL(oldUrl, { max: 1 });
  const { updating } = await sql.begin(async (locking) => {
    await locking`LOCK TABLE ledger IN SHARE MODE`;
    const committing = commit(
      session,
      { epochs: createEpochs(session.server), idempotency: createIdempotencyMemory() },
      [unit],
      termsNow(),
    );
    committing.catch(() => {});
    const isWaiting = async () =>
      (await locking`SELECT FROM pg_locks WHERE NOT granted`.values()).length > 0;
    await until(isWaiting, 10_000, "the update");
    unaware.confirm(2);
    return { updating: committing };
  });
  await expect(updating).rejects.toThrow("not known whether the update was stored");
  session.close();
});

test("a new connection to an old primary is rejected, and the promotion is logged", async () => {
  await expect(openSession(oldUrl, true, guard)).rejects.toThrow(wrongServer);
  expect(logged).toEqual(["database primary replaced"]);
});

test("a new connection to another database is rejected, and that is logged once", async () => {
  for (const url of [standby.url(), standby.url()]) {
    await expect(openSession(url, true, guard)).rejects.toThrow(wrongServer);
  }
  expect(logged.filter((event) => event.includes("another database"))).toHaveLength(1);
});
