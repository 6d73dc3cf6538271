import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueOperator } from "./support/admin/operators.ts";
import { sampleOf, scrape } from "./support/metrics.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";
import { until } from "./support/until.ts";

const wideId = 9223372036854775807n;

describe.each([surfaceEngine])("low stock on %s", (engine) => {
  let service: TestService;
  let operator: string;
  let key: string;
  beforeAll(async () => {
    const flags = { "metrics-port": "0", "low-stock-at": "3" };
    // Chunks of the list that begin and end between pets with a threshold of their own.
    service = await startTestService(engine, flags, {
      metricsReadEveryMs: 50,
      listChunkEntries: 2,
    });
    operator = (await issueOperator(service)).text;
    key = (await service.issueKey()).text;
    await service.addPets(
      { petId: -5n, quantity: 3 },
      { petId: 2n, quantity: 4 },
      { petId: 3n, quantity: 10, lowStockAt: 10 },
      { petId: 4n, quantity: 1, lowStockAt: 0 },
      { petId: wideId, quantity: 100, lowStockAt: 100 },
    );
  });
  afterAll(() => service.stop());

  const set = (petId: bigint | number, quantity: number) =>
    service.call("PATCH", `/inventory/${petId}`, { key, body: JSON.stringify({ quantity }) });
  const admin = (method: string, path: string, body?: object) =>
    service.call(method, `~/admin${path}`, {
      key: operator,
      ...(body && { body: JSON.stringify(body) }),
    });

  /** The number in the operator API, which is exact at once, and then in the metric. */
  async function expectLow(entries: number): Promise<void> {
    const { json } = await admin("GET", "/service");
    expect(json).toMatchObject({ lowStockAt: 3, lowEntries: entries });
    const read = async () =>
      sampleOf(await scrape(service.metricsUrl), "petstore_low_stock_entries");
    await until(async () => (await read()) === entries, 5_000, `${entries} low entries`);
  }

  test("is counted by the threshold of a pet or the default, also after either side changes", async () => {
    await expectLow(3);
    expect((await set(2, 3)).status).toBe(200);
    await expectLow(4);
    expect((await admin("PATCH", "/pets/2", { lowStockAt: 2 })).status).toBe(200);
    await expectLow(3);
    await service.addPets({ petId: 3n, lowStockAt: 9 });
    await expectLow(2);
    const added = await admin("POST", "/pets", {
      petId: 9,
      name: "Pepper",
      quantity: 7,
      lowStockAt: 7,
    });
    expect(added.status).toBe(201);
    await expectLow(3);
    await service.restart();
    await expectLow(3);
  });

  test("sales of the last 28 days are listed, but no deliveries, counts or other pets", async () => {
    await set(wideId, 58);
    await set(wideId, 70);
    await admin("PATCH", `/stock/${wideId}`, { quantity: 60 });
    const { seq } = await service.store.inventory.readHead();
    const list = async () => (await admin("GET", "/sales")).text;
    const { sales } = service.store;
    await until(async () => (await sales.readSalesSeq()) === seq, 10_000, "the sales");
    expect(await list()).toBe(
      `{"days":28,"pets":[{"petId":2,"sold":1},{"petId":${wideId},"sold":42}]}`,
    );
    service.clock.advance(28 * 86_400_000);
    expect(await list()).toBe('{"days":28,"pets":[]}');
  });
});
