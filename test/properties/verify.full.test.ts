import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import fc from "fast-check";
import { readConfig } from "../../src/config.ts";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { scopes } from "../../src/domain/keys/keys.ts";
import { digestOfTexts } from "../../src/domain/ledger/idempotency.ts";
import { plans } from "../../src/domain/limits/plans.ts";
import type { Store } from "../../src/domain/store.ts";
import { toPoints } from "../../src/domain/usage/usage-history.ts";
import { int64Max, int64Min } from "../../src/domain/values/int64.ts";
import { checkEpochs } from "../../src/domain/verification/epochs.ts";
import { createFaults } from "../../src/domain/verification/faults.ts";
import { createSlots } from "../../src/domain/verification/slots.ts";
import { verify } from "../../src/domain/verification/verify.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock, testStart } from "../support/clock.ts";
import { petRow } from "../support/pets.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import {
  corruptions,
  restoring,
  tablesOf,
  tampererOfPostgres,
  tampererOfSqlite,
} from "../support/properties/corruptions.ts";
import { runs } from "../support/properties/runs.ts";
import { type Engine, startTestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import { webhookNamed } from "../support/webhooks.ts";

test("rows of the ledger can be neither changed nor deleted while its triggers exist", async () => {
  const service = await startTestService();
  await service.addPets({ petId: 1n });
  const database = new Database(service.databaseUrl.slice("sqlite:".length));
  expect(() => database.run("UPDATE ledger SET quantity_after = 1")).toThrow("never changed");
  expect(() => database.run("DELETE FROM ledger")).toThrow("never deleted");
  expect(() => database.run("UPDATE inventory SET quantity = -1")).toThrow("CHECK");
  expect(() => database.run("UPDATE inventory SET status = 'lost'")).toThrow("CHECK");
  database.close();
  await service.stop();
});

/**
 * Adds rows to every table: four pets, twenty ledger rows, fifteen of them with an idempotency key,
 * an order, a key, its usage, a ban, a webhook. The audit log has a row for most of them.
 */
async function fill(store: Store): Promise<void> {
  const key = { id: "key_a", name: "till", plan: "business", limits: plans.business } as const;
  const times = { createdAt: testStart, expiresAt: null, revokedAt: null };
  await store.keys.addKey({ ...key, scopes, ...times }, digestOf("a secret"), anEntry);
  for (const petId of [1n, 2n, 3n, 4n]) {
    await store.catalogue.importPets(
      once([petRow({ petId, quantity: Number(petId) })]),
      commandImport("test"),
    );
  }
  for (let at = 0; at < 15; at++) {
    // All quantities differ, so that exchanged rows are noticed.
    const origin = { keyId: "key_a", requestId: `req_${at}` };
    const digests = { key: digestOfTexts("key", `${at}`), request: digestOfTexts("request") };
    await store.inventory.commit([
      {
        ...setUnit(BigInt(1 + ((at * 7) % 4)), 100 + at, origin),
        idempotency: { ...digests, keptMs: 1_000 },
      },
    ]);
  }
  await store.catalogue.importPets(
    once([petRow({ petId: 2n, status: "sold" })]),
    commandImport("test"),
  );
  const order = { line: 1, id: 1n, petId: 1n, quantity: 1, shipDate: null } as const;
  await store.catalogue.importOrders(
    once([{ ...order, status: "placed", complete: false }]),
    commandImport("test"),
  );
  const counts = { minuteStart: 0, minuteCount: 1, dayStart: 0, dayCount: 1 };
  await store.usage.saveUsage([{ keyId: "key_a", ...counts, lastUsedAt: testStart }]);
  const ban = { startedAt: testStart, until: testStart + 1, liftedAt: null };
  await store.usage.saveBan({ keyId: "key_a", ...ban });
  await store.usageHistory.addCounts(
    toPoints([{ keyId: "key_a", start: testStart, admitted: 1, refused: 0 }]),
  );
  const cursor = { epoch: "any", seq: 20 };
  await store.webhooks.addWebhook(webhookNamed("wh_a", { cursor }), anEntry);
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

const everyKind = Object.keys(corruptions);
const tableOf = (kind: string) => kind.split(":")[0];
/**
 * The same code compares rows on both engines. The second one has the first kind of each table.
 */
const kindsOn: Record<Engine, readonly string[]> = {
  sqlite: everyKind,
  postgres: everyKind.filter(
    (kind, at) => everyKind.findIndex((other) => tableOf(other) === tableOf(kind)) === at,
  ),
};

const tamperers = {
  sqlite: (url: string) => tampererOfSqlite(url.slice("sqlite:".length)),
  postgres: tampererOfPostgres,
};

async function freshDatabase(engine: Engine, folder: string): Promise<string> {
  return engine === "sqlite" ? `sqlite:${join(folder, "test.db")}` : createdDatabase();
}

const sound = { rows: 20, entries: 4, pets: 4, seq: 20, faults: [], faultCount: 0 };

test.each([
  ["sqlite", "faults of every kind"],
  ["postgres", "faults of every table"],
] as const)(
  "verify on %s finds %s, wherever they are, and none in a sound store",
  async (engine) => {
    const folder = mkdtempSync(join(tmpdir(), "petstore-verify-"));
    const database = await freshDatabase(engine, folder);
    const store = await openOrCreateStore(readConfig({ database }, {}), createTestClock());
    await fill(store);
    const { hash } = await store.history.readTip();
    expect(await store.transfer.snapshot(verify)).toEqual({ ...sound, hash });
    const tamperer = await tamperers[engine](database);
    const tables = tablesOf(tamperer.names);
    for (const table of tables) {
      await tamperer.run(`CREATE TABLE was_${table} AS SELECT * FROM ${table}`);
    }
    const kinds = kindsOn[engine];
    // Every kind once, and on one engine then any kind anywhere.
    const examples = kinds.map((name, at): [string, number] => [name, 1 + ((at * 7) % 20)]);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...kinds),
        fc.integer({ min: 1, max: 20 }),
        async (name, n) => {
          const statements = corruptions[name]!(n, tamperer.names);
          try {
            await tamperer.run(statements);
            const { faults, faultCount } = await store.transfer.snapshot(verify);
            expect(faultCount).toBeGreaterThan(0);
            expect(faults.length).toBe(Math.min(faultCount, 20));
            for (const fault of faults) expect(fault).toMatch(/^[^:]+: .+; expected .+$/);
            // The secret of a webhook is not printed, whatever it is.
            expect(faults.join()).not.toContain("hidden");
          } finally {
            await tamperer.run(restoring(tables.filter((table) => statements.includes(table))));
          }
        },
      ),
      { ...runs(kinds.length + (engine === "sqlite" ? 10 : 0)), examples },
    );
    expect(await store.transfer.snapshot(verify)).toEqual({ ...sound, hash });
    await tamperer.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  },
);

test("verify on postgres finds a disabled trigger", async () => {
  const database = await createdDatabase();
  const store = await openOrCreateStore(readConfig({ database }, {}), createTestClock());
  await using sql = new SQL(database, { max: 1 });
  await sql`ALTER TABLE ledger DISABLE TRIGGER ledger_rows_stay`;
  await sql`DROP TRIGGER entries_have_pets ON inventory`;
  const expected = "expected its definition in this version of petstore";
  expect((await store.transfer.snapshot(verify)).faults).toEqual([
    `trigger entries_have_pets: is missing; ${expected}`,
    `trigger ledger_rows_stay: was altered; ${expected}`,
  ]);
  await store.close();
});

test("verify on postgres finds triggers and functions that were altered or added", async () => {
  const database = await createdDatabase();
  const store = await openOrCreateStore(readConfig({ database }, {}), createTestClock());
  await using sql = new SQL(database, { max: 1 });
  expect((await store.transfer.snapshot(verify)).faults).toEqual([]);
  await sql.unsafe(`
    CREATE OR REPLACE FUNCTION petstore_refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RETURN NULL; END $$;
    CREATE TRIGGER more AFTER INSERT ON orders FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse();
    DROP TRIGGER audit_rows_stay ON audit;
    CREATE TRIGGER audit_rows_stay BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('audit rows are never changed or deleted');`);
  const expected = "expected its definition in this version of petstore";
  expect((await store.transfer.snapshot(verify)).faults).toEqual([
    `trigger audit_rows_stay: was altered; ${expected}`,
    `function petstore_refuse: was altered; ${expected}`,
    "trigger more: was added; expected none with this name",
  ]);
  await store.close();
});

test("verify on postgres finds columns that were altered", async () => {
  const database = await createdDatabase();
  const store = await openOrCreateStore(readConfig({ database }, {}), createTestClock());
  await using sql = new SQL(database, { max: 1 });
  await sql.unsafe(`
    ALTER TABLE orders ALTER quantity TYPE numeric;
    ALTER TABLE ledger ALTER hash DROP NOT NULL;
    ALTER TABLE webhooks DROP lease_holder;`);
  const expected = "expected its definition in this version of petstore";
  expect((await store.transfer.snapshot(verify)).faults).toEqual([
    `column ledger.hash: was altered; ${expected}`,
    `column orders.quantity: was altered; ${expected}`,
    `column webhooks.lease_holder: is missing; ${expected}`,
  ]);
  await store.close();
});

test("verify finds an epoch that exists twice", async () => {
  async function* rows() {
    yield [
      [1n, "a", 0n],
      [2n, "b", 3n],
      [3n, "a", 3n],
    ];
  }
  const faults = createFaults();
  await checkEpochs({ rowsOf: rows, faults }, 3);
  expect(faults.lines).toEqual(['epoch 3: "a" exists twice; expected one epoch']);
});

test("every 64-bit id has its own slot, the same one each time", () => {
  const near = fc.bigInt({ min: -3_000n, max: 3_000n });
  const any = fc.oneof(near, fc.bigInt({ min: int64Min, max: int64Max }), fc.constant(int64Min));
  fc.assert(
    fc.property(fc.array(any, { maxLength: 6_000, size: "max" }), (ids) => {
      const slots = createSlots();
      const model = new Map<bigint, number>();
      for (const id of ids) {
        if (!model.has(id)) model.set(id, model.size);
        expect(slots.slotOf(id)).toBe(model.get(id)!);
      }
      expect(slots.count).toBe(model.size);
      for (const [id, slot] of model) expect(slots.idOf(slot)).toBe(id);
    }),
    runs(8),
  );
});
