import type { Stock } from "../ledger/inventory.ts";
import { yieldToEventLoop } from "../running/background.ts";
import { compareIds, halvesOf, sortedIndexes } from "../values/int64-arrays.ts";
import {
  copyEntry,
  type EntryColumns,
  emptyColumns,
  noEntry,
  sliceEntries,
  statusCode,
} from "./columns.ts";

const initialRows = 1_024;
/** 25 MB. With more pets than half of this, it doubles. */
const compactedRows = 1_048_576;

/**
 * The first or the last state of every pet in a sequence of states. Rows are collected in the
 * order in which they come, and sorted by pet at the end. That is several times faster than a hash
 * table, whose every access misses the processor's cache.
 */
export function createStockChanges(kept: "first" | "last") {
  let rows = emptyColumns(initialRows);
  let fullAt = compactedRows;

  function grow(): void {
    const { count } = rows;
    const larger = emptyColumns(2 * count);
    larger.petIds.set(rows.petIds);
    larger.quantities.set(rows.quantities);
    larger.statuses.set(rows.statuses);
    larger.versions.set(rows.versions);
    larger.count = count;
    rows = larger;
  }

  async function sorted(): Promise<EntryColumns & { count: number }> {
    const ids = rows.petIds.subarray(0, rows.count);
    const order = await sortedIndexes(ids);
    const result = emptyColumns(rows.petIds.length);
    const [from, to] = [halvesOf(ids), halvesOf(result.petIds)];
    for (let index = 0; index < order.length; index++) {
      if ((index + 1) % (4 * sliceEntries) === 0) await yieldToEventLoop();
      // The sort is stable: the rows of a pet are next to each other, in their order.
      const neighbour = kept === "last" ? order[index + 1] : order[index - 1];
      const row = order[index]!;
      if (neighbour !== undefined && compareIds(from, row, from, neighbour) === 0) continue;
      copyEntry(rows, from, row, result, to, result.count);
      result.count += 1;
    }
    return result;
  }

  return {
    /** Adds the state of a pet. `version` is the `seq` of the row that led to it. */
    add(petId: bigint, stock: Stock | null, version: number): void {
      if (rows.count === rows.petIds.length) grow();
      const { count } = rows;
      rows.petIds[count] = petId;
      rows.quantities[count] = stock?.quantity ?? 0;
      rows.statuses[count] = stock ? statusCode(stock.status) : noEntry;
      rows.versions[count] = version;
      rows.count += 1;
    },
    /** True when there are more rows than memory should hold. Call `compact` before adding more. */
    isFull: () => rows.count >= fullAt,
    /** Keeps one row per pet. */
    async compact(): Promise<void> {
      rows = await sorted();
      fullAt = Math.max(compactedRows, 2 * rows.count);
    },
    /** One entry per pet, by ascending id. A removed pet has no status. Call it once, at the end. */
    sorted,
  };
}
