import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type PetStatus,
  petStatuses,
  quantityMax,
  type Stock,
} from "../../src/domain/ledger/inventory.ts";
import type { Store } from "../../src/domain/store.ts";
import { createInventoryList } from "../../src/http/list/list.ts";
import { stockTotals } from "../../src/http/list/totals.ts";

/** The totals of a map of entries, in the simplest way. */
function naiveTotals(
  entries: ReadonlyMap<bigint, Stock>,
  thresholds: ReadonlyMap<bigint, number>,
  defaultAt: number | null,
) {
  const totalOf = (status: PetStatus) => {
    const stocks = [...entries.values()].filter((one) => one.status === status);
    const sum = stocks.reduce((so, { quantity }) => so + BigInt(quantity), 0n);
    const bounded = sum > BigInt(quantityMax) ? quantityMax : Number(sum);
    return { entries: stocks.length, quantity: bounded };
  };
  const isLow = ([petId, { quantity }]: [bigint, Stock]) =>
    quantity <= (thresholds.get(petId) ?? defaultAt ?? -1);
  return {
    byStatus: Object.fromEntries(petStatuses.map((status) => [status, totalOf(status)])),
    low: [...entries].filter(isLow).length,
  };
}

const stock = fc.record({
  quantity: fc.oneof(fc.nat(20), fc.maxSafeNat(), fc.constant(quantityMax)),
  status: fc.constantFrom(...petStatuses),
});
const petId = fc.oneof(
  fc.bigInt({ min: -5n, max: 30n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const change = fc.tuple(petId, fc.option(stock));
const threshold = fc.tuple(petId, fc.option(fc.nat(20)));

test("the totals of a list are those of its entries, after any changes of stock and thresholds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(change, { maxLength: 40 }), fc.array(threshold)), {
        maxLength: 5,
      }),
      fc.option(fc.nat(20)),
      async (batches, defaultAt) => {
        const own = new Map<bigint, number>();
        let audited = 0;
        const store = {
          audit: { listEntries: async () => (audited === 0 ? [] : [{ seq: audited, at: 0 }]) },
          sales: {
            thresholdsFrom: async (from: bigint, upTo: bigint) =>
              [...own]
                .filter(([id]) => id >= from && id <= upTo)
                .map(([petId, value]) => ({ petId, value })),
          },
        } as unknown as Store;
        const list = createInventoryList(4, () => {});
        const entries = new Map<bigint, Stock>();
        for (const [seq, [batch, changed]] of batches.entries()) {
          for (const [id, at] of changed) {
            if (at === null) own.delete(id);
            else own.set(id, at);
          }
          audited += changed.length;
          for (const [id, after] of batch) {
            list.apply(id, after);
            if (after) entries.set(id, after);
            else entries.delete(id);
          }
          await list.publish({ epoch: "e", seq });
          const totals = await stockTotals(list.current(), store, defaultAt);
          expect<unknown>(totals).toEqual(naiveTotals(entries, own, defaultAt));
        }
      },
    ),
    { numRuns: 200 },
  );
});
