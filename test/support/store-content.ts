import { expect } from "bun:test";
import type { Store } from "../../src/domain/ports.ts";
import { tables } from "../../src/store/tables.ts";

/** Requests are counted there, also those that are rejected. */
const countingTables = ["usage", "usage_history", "bans"];

/** Every row of the store, except counts of requests. Sessions are in the audit log. */
export async function contentOf(store: Store): Promise<Record<string, readonly unknown[]>> {
  return store.transfer.snapshot(async ({ rowsOf }) => {
    const content: Record<string, readonly unknown[]> = {};
    for (const { name } of tables) {
      if (!countingTables.includes(name))
        content[name] = (await Array.fromAsync(rowsOf(name))).flat();
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
