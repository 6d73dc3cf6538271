import { afterAll, afterEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { isInHistory } from "../../src/domain/ledger/epochs.ts";
import type { Change, ExpectedVersion } from "../../src/domain/ledger/ledger.ts";
import type { Store } from "../../src/domain/store.ts";
import { commit } from "../../src/store/postgres/commit.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { createEpochs } from "../../src/store/postgres/epochs.ts";
import { createIdempotencyMemory } from "../../src/store/postgres/idempotency.ts";
import { petRow } from "../support/pets.ts";
import { type PostgresServer, sharedPostgres, startPostgres } from "../support/postgres.ts";
import { startStandby } from "../support/postgres-standby.ts";
import { openConnected } from "../support/postgres-store.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { setUnit, termsNow, versionOrReason } from "../support/units.ts";
import { until } from "../support/until.ts";

const opened: Store[] = [];
const servers: PostgresServer[] = [];
afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));
afterAll(() => Promise.all(servers.map((server) => server.destroy())));

async function open(url: string): Promise<Store> {
  const database = createDatabase(url);
  const store = await openConnected({ database, environment: "production" });
  opened.push(store);
  return store;
}

async function addPets(store: Store, ...petIds: bigint[]): Promise<void> {
  const rows = petIds.map((petId) => petRow({ petId }));
  await store.catalogue.importPets(
    (async function* () {
      yield rows;
    })(),
    commandImport("test"),
  );
}

const set = (store: Store, quantity: number) => store.inventory.commit([setUnit(1n, quantity)]);

/** What the table holds, read without the code under test. */
async function recorded(url: string) {
  await using sql = new SQL(url, { max: 1 });
  const rows: unknown[][] =
    await sql`SELECT epoch, from_seq::int4 FROM epochs ORDER BY number`.values();
  return rows.map(([epoch, fromSeq]) => ({ epoch, fromSeq }));
}

const headOf = async (store: Store) => store.inventory.readHead();
const nameOf = (url: string) => new URL(url).pathname.slice(1);

test("a store has one epoch from its first row, however many instances open it and write at once", async () => {
  const url = await (await sharedPostgres()).freshDatabase();
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)));
  const { epoch } = await headOf(stores[0]!);
  for (const store of stores) {
    expect(await store.inventory.listEpochs()).toEqual([{ epoch, fromSeq: 0 }]);
  }
  await addPets(stores[0]!, 1n);
  await Promise.all([...stores, ...stores].map((store, index) => set(store, index)));
  await set(await open(url), 1);
  expect(await recorded(url)).toEqual([{ epoch, fromSeq: 0 }]);
  expect(await stores[1]!.inventory.listEpochs()).toEqual([{ epoch, fromSeq: 0 }]);
  expect((await headOf(stores[2]!)).epoch).toBe(epoch);
});

test("an import of no pets leaves a store without an epoch, so it can still receive another store", async () => {
  const url = await createdDatabase();
  const store = await open(url);
  await addPets(store);
  expect(await recorded(url)).toEqual([]);
});

test("a promotion that loses updates begins an epoch where the promoted server's ledger ended", async () => {
  const primary = await startPostgres();
  servers.push(primary);
  const url = await primary.freshDatabase();
  const standby = await startStandby(primary, { synchronous: false });
  servers.push(standby);
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const running = await open(`postgres://postgres@${hosts}/${nameOf(url)}`);
  await addPets(running, 1n, 2n);
  for (let quantity = 1; quantity <= 3; quantity++) await set(running, quantity);
  const first = await headOf(running);
  expect(first.seq).toBe(5);
  await replayed(url, standby.url(nameOf(url)));

  await standby.promote();
  const isolated = await open(url);
  for (let quantity = 11; quantity <= 13; quantity++) await set(isolated, quantity);
  expect(await headOf(isolated)).toMatchObject({ epoch: first.epoch, seq: 8 });
  await primary.kill();

  const reachesNew = async () => (await headOf(running).catch(() => first)).epoch !== first.epoch;
  await until(reachesNew, 15_000, "the new primary");
  const second = await headOf(running);
  expect(second.seq).toBe(5);
  const history = [
    { epoch: first.epoch, fromSeq: 0 },
    { epoch: second.epoch, fromSeq: 5 },
  ];
  // Clients see the new epoch before its first row is written.
  expect(await running.inventory.listEpochs()).toEqual(history);
  expect(await recorded(standby.url(nameOf(url)))).toEqual(history.slice(0, 1));
  const isStored = async () => (await set(running, 4).catch(() => undefined)) !== undefined;
  await until(isStored, 15_000, "an update");
  await set(running, 5);
  expect(await recorded(standby.url(nameOf(url)))).toEqual(history);

  const { seq: headSeq } = await headOf(running);
  const isKnown = (epoch: string, seq: number) => isInHistory(history, headSeq, { epoch, seq });
  expect([0, 5, 6, 8].map((seq) => isKnown(first.epoch, seq))).toEqual([true, true, false, false]);
  expect([4, 5, headSeq].map((seq) => isKnown(second.epoch, seq))).toEqual([false, true, true]);

  const expecting = async (petId: bigint, ...expected: ExpectedVersion[]) => {
    const change: Change = { petId, kind: "set", amount: 9, expected, reason: null };
    const unit = { changes: [change], cause: "api", keyId: null, requestId: null } as const;
    const { outcomes } = await running.inventory.commit([unit]);
    return versionOrReason(outcomes[0]!);
  };
  // The lost update had the same number as the one that replaced it.
  expect(await expecting(1n, { seq: headSeq, epoch: first.epoch })).toBe("version_mismatch");
  expect(await expecting(2n, { seq: 2, epoch: second.epoch })).toBe("version_mismatch");
  expect(await expecting(1n, { seq: headSeq, epoch: second.epoch })).toBe(headSeq + 1);
  expect(await expecting(2n, { seq: 2, epoch: first.epoch })).toBe(headSeq + 2);
});

/** Waits until a standby has replayed everything that its primary has written. */
async function replayed(primaryUrl: string, standbyUrl: string): Promise<void> {
  await using primary = new SQL(primaryUrl, { max: 1 });
  await using standby = new SQL(standbyUrl, { max: 1 });
  const [[end]] = await primary`SELECT pg_current_wal_flush_lsn()::text`.values();
  const isReplayed = async () =>
    (await standby`SELECT pg_last_wal_replay_lsn() >= ${end}::pg_lsn`.values())[0][0] === true;
  await until(isReplayed, 15_000, "the replay");
}

test("a copied database begins an epoch after the last copied row", async () => {
  const server = await sharedPostgres();
  const url = await createdDatabase();
  const original = await open(url);
  await addPets(original, 1n);
  const before = await headOf(original);
  await Promise.all(opened.splice(0).map((store) => store.close()));
  const copyUrl = await server.freshDatabase(nameOf(url));
  const copy = await open(copyUrl);
  const { epoch } = await headOf(copy);
  expect(epoch).not.toBe(before.epoch);
  const history = [
    { epoch: before.epoch, fromSeq: 0 },
    { epoch, fromSeq: 1 },
  ];
  expect(await recorded(copyUrl)).toEqual(history);
  await set(copy, 2);
  expect(await recorded(copyUrl)).toEqual(history);
  expect(isInHistory(history, 2, { epoch: before.epoch, seq: 1 })).toBe(true);
  expect(isInHistory(history, 2, { epoch: before.epoch, seq: 2 })).toBe(false);
});

test("a database restored into another cluster is in another epoch, even with the same oid and timeline", async () => {
  const other = await startPostgres({ hasOwnIdentifier: true });
  servers.push(other);
  const epochs = [];
  for (const server of [await sharedPostgres(), other]) {
    await using sql = new SQL(server.url(), { max: 1 });
    await sql`CREATE DATABASE restored OID 99999`;
    const store = await open(server.url("restored"));
    await using restored = new SQL(server.url("restored"), { max: 1 });
    await restored`UPDATE store SET epoch = 'same'`;
    epochs.push((await headOf(store)).epoch);
  }
  expect(epochs[0]).not.toBe(epochs[1]);
  for (const epoch of epochs) expect(epoch).toMatch(/^same-\d+\.99999\.1$/);
});

test("a transferred store keeps its history and begins an epoch with the next write", async () => {
  const source = await open(await createdDatabase());
  await addPets(source, 1n);
  const before = await headOf(source);
  const targetUrl = await createdDatabase();
  const running = await open(targetUrl);
  const target = await open(targetUrl);
  const copied = (from: Store) =>
    from.transfer.snapshot(({ rowsOf }) => target.transfer.importTables(rowsOf));
  await copied(source);
  expect(await recorded(targetUrl)).toEqual([{ epoch: before.epoch, fromSeq: 0 }]);
  // An instance that opened the target while it was empty records the epoch too.
  await set(running, 2);
  const { epoch } = await headOf(running);
  expect(await recorded(targetUrl)).toEqual([
    { epoch: before.epoch, fromSeq: 0 },
    { epoch, fromSeq: 1 },
  ]);
  await expect(copied(source)).rejects.toThrow("not empty");
});

test("an empty store can be transferred twice to the same target", async () => {
  const targetUrl = await createdDatabase();
  const target = await open(targetUrl);
  const epochRows = async function* (table: string) {
    if (table === "epochs") yield [[1n, "first", 0n]];
  };
  for (let time = 0; time < 2; time++) await target.transfer.importTables(epochRows);
  expect(await recorded(targetUrl)).toEqual([{ epoch: "first", fromSeq: 0 }]);
  await addPets(target, 1n);
  const { epoch } = await headOf(target);
  expect(await recorded(targetUrl)).toEqual([
    { epoch: "first", fromSeq: 0 },
    { epoch, fromSeq: 0 },
  ]);
});

test("once its epoch is recorded, an update needs no statement for it", async () => {
  const url = await createdDatabase();
  await addPets(await open(url), 1n);
  const database = createDatabase(url);
  const session = await database.connect();
  const epochs = createEpochs(session.server);
  const sent: string[] = [];
  const counting = {
    ...session,
    query: (text: string, values?: readonly unknown[]) => {
      sent.push(text);
      return session.query(text, values);
    },
  };
  const statements = async () => {
    sent.length = 0;
    await commit(
      counting,
      { epochs, idempotency: createIdempotencyMemory() },
      [setUnit(1n, 1)],
      termsNow(),
    );
    return sent.length;
  };
  expect(await statements()).toBe(5);
  expect(await statements()).toBe(1);
  expect(sent.filter((text) => text.includes("epochs"))).toEqual([]);
  session.close();
});
