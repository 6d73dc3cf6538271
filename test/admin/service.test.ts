import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PetStatus } from "../../src/domain/ledger/inventory.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

interface ServiceJson {
  readonly stock: Record<PetStatus, { entries: number; quantity: number }>;
  readonly changesPerMinute: readonly number[];
  readonly attention: readonly { severity: string; text: string; view: string }[];
  readonly [field: string]: unknown;
}

const minuteMs = 60_000;

describe.each([surfaceEngine])("the state of the service on %s", (engine) => {
  let service: TestService;
  let operator: string;
  let key: { id: string; text: string };
  beforeAll(async () => {
    service = await startTestService(engine, {}, { listChunkEntries: 4 });
    operator = (await issueOperator(service)).text;
    key = await service.issueKey({ name: "Warehouse" });
  });
  afterAll(() => service.stop());

  const state = async () =>
    (await service.call("GET", "~/admin/service", { key: operator })).json as ServiceJson;
  const set = (petId: bigint, quantity: number) =>
    service.call("PATCH", `/inventory/${petId}`, {
      key: key.text,
      body: `{"quantity":${quantity}}`,
    });

  test("an empty store has no stock, no changes and no backup", async () => {
    const { hash } = await service.store.history.readTip();
    // Nothing is said of backups until their folder was read.
    await until(async () => (await state()).attention.length > 0, 1_000, "the list of backups");
    expect(await state()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      environment: "production",
      engine: engine === "sqlite" ? "SQLite" : "PostgreSQL",
      schema: expect.any(Number),
      startedAt: new Date(service.clock.now()).toISOString(),
      now: new Date(service.clock.now()).toISOString(),
      ledger: { seq: 0, hash, at: null },
      stock: {
        available: { entries: 0, quantity: 0 },
        pending: { entries: 0, quantity: 0 },
        sold: { entries: 0, quantity: 0 },
      },
      lowStockAt: null,
      lowEntries: 0,
      changesPerMinute: Array(60).fill(0),
      isReady: true,
      webhooks: { active: 0, paused: 0, disabled: 0, failing: 0 },
      backup: null,
      attention: [
        { severity: "warning", text: "There is no backup of the store yet.", view: "backups" },
      ],
    });
  });

  test("the stock by status includes every change before the request", async () => {
    const pets = Array.from({ length: 10 }, (_, at) => ({
      petId: BigInt(at + 1) * 9_007_199_254_740_993n,
      quantity: at,
      status: (["available", "pending", "sold"] as const)[at % 3]!,
    }));
    await service.addPets(...pets);
    const { stock } = await state();
    expect(stock).toEqual({
      available: { entries: 4, quantity: 0 + 3 + 6 + 9 },
      pending: { entries: 3, quantity: 1 + 4 + 7 },
      sold: { entries: 3, quantity: 2 + 5 + 8 },
    });
    await set(pets[0]!.petId, 1_000);
    expect((await state()).stock.available).toEqual({ entries: 4, quantity: 1_018 });
    await set(pets[3]!.petId, Number.MAX_SAFE_INTEGER);
    const { quantity } = (await state()).stock.available;
    expect(quantity).toBe(Number.MAX_SAFE_INTEGER);
    await set(pets[3]!.petId, 3);
  });

  test("changes are counted by the minute in which they were stored", async () => {
    const petId = 9_007_199_254_740_993n;
    const { clock } = service;
    clock.advance(60 * minuteMs);
    expect((await state()).changesPerMinute).toEqual(Array(60).fill(0));
    for (const changes of [2, 0, 3, 1]) {
      for (let change = 0; change < changes; change++) await set(petId, change);
      expect((await state()).changesPerMinute.at(-1)).toBe(changes);
      clock.advance(minuteMs);
    }
    const counts = (await state()).changesPerMinute;
    expect(counts.slice(-6)).toEqual([0, 2, 0, 3, 1, 0]);
    expect(await state()).toMatchObject({ changesPerMinute: counts });
    clock.advance(56 * minuteMs);
    expect((await state()).changesPerMinute.slice(0, 4)).toEqual([0, 3, 1, 0]);
  });

  test("what needs attention is named, problems first", async () => {
    const { store, clock } = service;
    const now = clock.now();
    const expiring = await service.issueKey({ name: "Old till", expiresAt: now + 1_000 });
    await store.usage.saveBan({
      keyId: key.id,
      startedAt: now,
      until: now + 9_000,
      liftedAt: null,
    });
    await store.maintenance.startTask("backup", now, 0);
    await store.maintenance.failTask("backup", now, "no space left");
    const { attention } = await state();
    expect(attention).toEqual([
      { severity: "problem", text: "The last backup failed: no space left", view: "backups" },
      {
        severity: "warning",
        text: "Key 'Warehouse' is banned for ignoring the rate limit.",
        view: "keys",
      },
      {
        severity: "warning",
        text: expect.stringMatching(/^Key 'Old till' is about to expire, at .*Z or later\.$/),
        view: "keys",
      },
    ]);
    await store.maintenance.endTask("backup", now + 1, "{}");
    await store.maintenance.endTask("drill", now + 1, "{}");
    clock.advance(10_000);
    const later = await state();
    expect(later.attention).toEqual([]);
    expect(later.backup).toEqual({ lastAt: new Date(now + 1).toISOString(), ageSeconds: 9 });
    expect(
      (await service.call("GET", `~/admin/keys/${expiring.id}`, { key: operator })).json,
    ).toMatchObject({ state: "expired" });
  });
});
