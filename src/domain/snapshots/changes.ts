import { yieldToEventLoop } from "../event-loop.ts";
import type { StockRow } from "../ledger.ts";
import { halvesOf, sortedIndexes } from "../values/int64-arrays.ts";
import { createSlots } from "../values/slots.ts";
import {
  copyEntry,
  type EntryColumns,
  emptyColumns,
  noEntry,
  sliceEntries,
  statusCode,
} from "./columns.ts";

/** The last state of every pet in a sequence of ledger rows. */
export interface StockChanges {
  /** Returns true for the first row of a pet. */
  apply(row: StockRow): boolean;
  /** One entry per pet, by ascending id. A removed pet has no status. */
  sorted(): Promise<EntryColumns>;
}

const initialSlots = 1_024;

export function createStockChanges(): StockChanges {
  const slots = createSlots();
  let bySlot = emptyColumns(initialSlots);

  function grow(): void {
    const larger = emptyColumns(2 * bySlot.quantities.length);
    larger.quantities.set(bySlot.quantities);
    larger.statuses.set(bySlot.statuses);
    larger.versions.set(bySlot.versions);
    bySlot = larger;
  }

  return {
    apply({ seq, petId, after }) {
      const { count } = slots;
      const slot = slots.slotOf(petId);
      if (slot === bySlot.quantities.length) grow();
      bySlot.quantities[slot] = after?.quantity ?? 0;
      bySlot.statuses[slot] = after ? statusCode(after.status) : noEntry;
      bySlot.versions[slot] = seq;
      return slot === count;
    },
    async sorted() {
      const { count, ids } = slots;
      const order = await sortedIndexes(ids);
      const sorted = { ...emptyColumns(count), count };
      const [from, to] = [halvesOf(ids), halvesOf(sorted.petIds)];
      for (let index = 0; index < count; index++) {
        copyEntry(bySlot, from, order[index]!, sorted, to, index);
        if ((index + 1) % (8 * sliceEntries) === 0) await yieldToEventLoop();
      }
      return sorted;
    },
  };
}
