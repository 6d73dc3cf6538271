import { expect } from "bun:test";
import type { Store } from "../../src/domain/store.ts";
import { tables } from "../../src/store/tables.ts";

/** Requests are counted there, also those that are rejected. */
const countingTables = ["usage", "usage_points", "bans"];

/** From this column on, deliveries change the row of a webhook. Operators change what is before it. */
const firstDeliveryColumn = "cursor_epoch";

/** What clients and operators can change in the store. Sessions are in the audit log. */
export async function contentOf(store: Store): Promise<Record<string, readonly unknown[]>> {
  const counted = await store.stocktakes.listStocktakes("", 0);
  const stocktakes = counted.map(({ keyName, petIds }) => [keyName, `${petIds}`]);
  return store.transfer.snapshot(async ({ rowsOf }) => {
    const content: Record<string, readonly unknown[]> = { stocktakes };
    for (const { name, columns } of tables) {
      if (countingTables.includes(name)) continue;
      const end = columns.split(/,\s*/).indexOf(firstDeliveryColumn);
      const rows = (await Array.fromAsync(rowsOf(name))).flat() as unknown[][];
      content[name] = end < 0 ? rows : rows.map((row) => row.slice(0, end));
    }
    return content;
  });
}

/** Runs `work` and asserts that no table has changed. Stricter than `expectUnchanged`. */
export async function expectSameContent<T>(store: Store, work: () => Promise<T>): Promise<T> {
  const before = await contentOf(store);
  const result = await work();
  expect(await contentOf(store)).toEqual(before);
  return result;
}
