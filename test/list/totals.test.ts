import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type PetStatus,
  petStatuses,
  quantityMax,
  type Stock,
} from "../../src/domain/ledger/inventory.ts";
import { createInventoryList } from "../../src/http/list/list.ts";
import { stockTotals } from "../../src/http/list/totals.ts";

/** The totals of a map of entries, in the simplest way. */
function naiveTotals(entries: ReadonlyMap<bigint, Stock>) {
  const totalOf = (status: PetStatus) => {
    const stocks = [...entries.values()].filter((one) => one.status === status);
    const sum = stocks.reduce((so, { quantity }) => so + BigInt(quantity), 0n);
    const bounded = sum > BigInt(quantityMax) ? quantityMax : Number(sum);
    return { entries: stocks.length, quantity: bounded };
  };
  return Object.fromEntries(petStatuses.map((status) => [status, totalOf(status)]));
}

const stock = fc.record({
  quantity: fc.oneof(fc.nat(20), fc.maxSafeNat(), fc.constant(quantityMax)),
  status: fc.constantFrom(...petStatuses),
});
const change = fc.tuple(
  fc.oneof(
    fc.bigInt({ min: -5n, max: 30n }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  ),
  fc.option(stock),
);

test("the totals of a list are those of its entries, after any changes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { maxLength: 40 }), { maxLength: 5 }),
      async (batches) => {
        const list = createInventoryList({ chunkEntries: 4, onSuperseded: () => {} });
        const entries = new Map<bigint, Stock>();
        for (const [seq, batch] of batches.entries()) {
          for (const [petId, after] of batch) {
            list.apply(petId, after);
            if (after) entries.set(petId, after);
            else entries.delete(petId);
          }
          await list.publish({ epoch: "e", seq });
          expect<unknown>(await stockTotals(list.current())).toEqual(naiveTotals(entries));
        }
      },
    ),
    { numRuns: 200 },
  );
});
