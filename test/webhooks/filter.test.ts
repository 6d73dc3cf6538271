import { afterAll, beforeAll, expect, test } from "bun:test";
import type { PetStatus } from "../../src/domain/ledger/inventory.ts";
import { matcherOf } from "../../src/domain/webhooks/filter.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { webhookNamed } from "../support/webhooks.ts";

const { filter } = webhookNamed("wh_filter");
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.addPets({ petId: 1n, lowStockAt: 0 }, { petId: 2n, lowStockAt: 5 }, { petId: 3n });
});
afterAll(() => service.stop());

const stock = (quantity: number, status: PetStatus = "available") => ({ quantity, status });
const sale = (petId: bigint, from: number, to: number) => ({
  ...{ petId, before: stock(from), after: stock(to), cause: "api" as const },
});

/** The pets of those sales of one piece that a webhook for low stock receives, with what is left. */
async function lowSales(lowStockAt: number | undefined): Promise<string[]> {
  const matcher = matcherOf({ ...filter, becomesLow: true }, { store: service.store, lowStockAt });
  const sales = [1n, 2n, 3n].flatMap((petId) =>
    [6, 5, 4, 3, 2, 1, 0].map((left) => sale(petId, left + 1, left)),
  );
  const matches = await matcher(sales);
  return sales.filter(matches).map(({ petId, after }) => `${petId}: ${after.quantity}`);
}

test("a pet becomes low at its own threshold, also at 0, and without one at the default", async () => {
  expect(await lowSales(3)).toEqual(["1: 0", "2: 5", "3: 3"]);
  expect(await lowSales(0)).toEqual(["1: 0", "2: 5", "3: 0"]);
  expect(await lowSales(undefined)).toEqual(["1: 0", "2: 5"]);
});

test("the status after a change counts, and that of a removed pet before it", async () => {
  const matcher = matcherOf({ ...filter, statuses: ["sold"] }, { ...service, lowStockAt: 3 });
  const rows = [
    { before: stock(1), after: stock(1, "sold") },
    { before: stock(1, "sold"), after: stock(1) },
    { before: null, after: stock(0, "sold") },
    { before: stock(0, "sold"), after: null },
  ].map((change) => ({ petId: 1n, cause: "console" as const, ...change }));
  const matches = await matcher(rows);
  expect(rows.map(matches)).toEqual([true, false, true, true]);
});

test("a quantity falls below a bound from the bound itself, and only by a change of an entry", async () => {
  const matcher = matcherOf({ ...filter, below: 5 }, { ...service, lowStockAt: 3 });
  const sales = [sale(1n, 5, 4), sale(1n, 6, 5), sale(1n, 4, 3), sale(1n, 9, 0)];
  const rows = [...sales, { ...sales[0]!, before: null }, { ...sales[0]!, after: null }];
  const matches = await matcher(rows);
  expect(rows.map(matches)).toEqual([true, false, false, true, false, false]);
});
