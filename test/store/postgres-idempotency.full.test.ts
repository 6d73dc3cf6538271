import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { digestOfTexts } from "../../src/domain/ledger/idempotency.ts";
import type { Unit } from "../../src/domain/ledger/ledger.ts";
import type { Store } from "../../src/domain/store.ts";
import { commit } from "../../src/store/postgres/commit.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { createPrimaryGuard } from "../../src/store/postgres/engine/primary.ts";
import { openSession } from "../../src/store/postgres/engine/session.ts";
import { createEpochs } from "../../src/store/postgres/epochs.ts";
import { createIdempotencyMemory } from "../../src/store/postgres/idempotency.ts";
import { petRow } from "../support/pets.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { type Standby, startStandby } from "../support/postgres-standby.ts";
import { openConnected } from "../support/postgres-store.ts";
import { setUnit, storedEntry, termsNow } from "../support/units.ts";
import { until } from "../support/until.ts";

/**
 * A primary commits keys, loses its standby, commits one more key and is killed. The standby is
 * promoted without that key, and another key gets the number of its row.
 */

let primary: PostgresServer;
let standby: Standby;
let name: string;
/** An instance that was running all the time. It has committed every key but the last one. */
let running: Store;
const opened: Store[] = [];

const keyed = (key: string, quantity = 1): Unit => ({
  ...setUnit(1n, quantity),
  idempotency: { key: digestOfTexts(key), request: digestOfTexts(key), keptMs: 60_000 },
});

async function open(hosts: string): Promise<Store> {
  const database = createDatabase(`postgres://postgres@${hosts}/${name}`);
  const store = await openConnected({ database, environment: "production" });
  opened.push(store);
  return store;
}

/** Commits one unit, again while the instance has not reached the database. */
async function store(unit: Unit, by: Store) {
  let committed: Awaited<ReturnType<Store["inventory"]["commit"]>> | undefined;
  const isCommitted = async () => {
    committed = await by.inventory.commit([unit]).catch(() => undefined);
    return committed !== undefined;
  };
  await until(isCommitted, 15_000, "the commit");
  return { rows: committed!.rows.length, version: storedEntry(committed!.outcomes[0]).version };
}

beforeAll(async () => {
  primary = await startPostgres();
  name = new URL(await primary.freshDatabase()).pathname.slice(1);
  standby = await startStandby(primary, { synchronous: true });
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`);
  running = await open(hosts.join());
  await running.catalogue.importPets(
    (async function* () {
      yield [petRow({ petId: 1n })];
    })(),
    commandImport("test"),
  );
  for (const key of ["a", "b"]) await running.inventory.commit([keyed(key)]);
  await standby.stop();
  await using sql = new SQL(primary.url(), { max: 1 });
  await sql`ALTER SYSTEM RESET synchronous_standby_names`;
  await sql`SELECT pg_reload_conf()`;
  expect(await store(keyed("lost"), running)).toEqual({ rows: 1, version: 4 });
  await primary.kill();
  await standby.start();
  await standby.promote();
  const other = await open(hosts[1]!);
  expect(await store(keyed("new"), other)).toEqual({ rows: 1, version: 4 });
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await Promise.all([primary.destroy(), standby.destroy()]);
});

test("an index of keys follows calls that read it from a promoted server at the same time", async () => {
  await primary.start();
  const before = await openSession(
    primary.url(name),
    true,
    createPrimaryGuard(() => {}),
  );
  const after = await openSession(
    standby.url(name),
    true,
    createPrimaryGuard(() => {}),
  );
  const idempotency = createIdempotencyMemory();
  await before.query("DELETE FROM remembered_keys WHERE seq = 4");
  await idempotency.load(before.query);
  // Both calls start before the promotion is known. The second response arrives after the first
  // call has started again, and before it has read anything.
  const gates = [0, 1].map(() => Promise.withResolvers<void>());
  const asked = [0, 0];
  const gated = (call: number) => async (text: string, values?: readonly unknown[]) => {
    const page = await after.query(text, values);
    if (++asked[call]! === 2 - call) await gates[call]!.promise;
    return page;
  };
  const loads = [idempotency.load(gated(0)), idempotency.load(gated(1))];
  await until(() => asked[0] === 2 && asked[1] === 1, 5_000, "both calls");
  gates[1]!.resolve();
  await loads[1];
  gates[0]!.resolve();
  await loads[0];
  const parts = { epochs: createEpochs(after.server), idempotency };
  for (const [key, version] of [["a", 2] as const, ["b", 3] as const, ["new", 4] as const]) {
    const { rows, outcomes } = await commit(after, parts, [keyed(key)], termsNow());
    expect([key, rows.length, storedEntry(outcomes[0]).version]).toEqual([key, 0, version]);
  }
  before.close();
  after.close();
  await primary.kill();
});

test("after a promotion an instance knows the keys that the new primary has, and only those", async () => {
  expect(await store(keyed("new"), running)).toEqual({ rows: 0, version: 4 });
  expect(await store(keyed("a"), running)).toEqual({ rows: 0, version: 2 });
  expect(await store(keyed("b"), running)).toEqual({ rows: 0, version: 3 });
  expect(await store(keyed("lost"), running)).toEqual({ rows: 1, version: 5 });
  expect(await store(keyed("lost"), running)).toEqual({ rows: 0, version: 5 });
});

test("a replay of a server that was replaced meanwhile is not returned", async () => {
  const guard = createPrimaryGuard(() => {});
  const session = await openSession(standby.url(name), true, guard);
  const parts = { epochs: createEpochs(session.server), idempotency: createIdempotencyMemory() };
  const replaced = {
    ...session,
    query: async (text: string, values?: readonly unknown[]) => {
      const rows = await session.query(text, values);
      // The last query before the rollback reads the first result.
      if (text.includes("first_seq")) guard.confirm(3);
      return rows;
    },
  };
  await expect(commit(replaced, parts, [keyed("a")], termsNow())).rejects.toThrow(
    "moved to another server",
  );
  session.close();
});
