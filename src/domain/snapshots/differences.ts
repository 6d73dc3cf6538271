import { compareIds, halvesOf } from "../values/int64-arrays.ts";
import {
  type EntryColumns,
  emptyColumns,
  noEntry,
  type StockColumns,
  sliceEntries,
  stockAt,
} from "./columns.ts";

/** Pets whose stock differs between two moments, by ascending id, in typed arrays. */
export interface DifferenceColumns {
  readonly count: number;
  readonly petIds: BigInt64Array;
  readonly before: StockColumns;
  readonly after: StockColumns;
}

/** The stocks of one pet at both moments. */
export function stocksAt({ before, after }: DifferenceColumns, index: number) {
  return { before: stockAt(before, index), after: stockAt(after, index) };
}

/** Compares two inventories, each in slices by ascending id. */
export async function* compareInventories(
  before: AsyncIterable<EntryColumns>,
  after: AsyncIterable<EntryColumns>,
): AsyncGenerator<DifferenceColumns> {
  const [one, other] = [createCursor(before), createCursor(after)];
  const out = createDifferenceWriter();
  try {
    for (;;) {
      const hasOne = one.hasMore() || (await one.load());
      const hasOther = other.hasMore() || (await other.load());
      if (!hasOne && !hasOther) break;
      // Without a wait, until one of the slices is used up.
      while (one.hasMore() === hasOne && other.hasMore() === hasOther && !out.isFull()) {
        const order = hasOne && hasOther ? compareCursors(one, other) : hasOne ? -1 : 1;
        out.add(order <= 0 ? one : nowhere, order >= 0 ? other : nowhere);
        if (order <= 0) one.at += 1;
        if (order >= 0) other.at += 1;
      }
      if (out.isFull()) yield out.take();
    }
    const rest = out.take();
    if (rest.count > 0) yield rest;
  } finally {
    await Promise.all([one.end(), other.end()]);
  }
}

/** A place in a column of entries. */
interface Place {
  readonly slice: EntryColumns;
  readonly ids: Int32Array;
  at: number;
}

const nothing: EntryColumns = { ...emptyColumns(1), count: 0 };
/** The place of a pet that has no entry. */
const nowhere: Place = { slice: nothing, ids: halvesOf(nothing.petIds), at: 0 };

function createCursor(slices: AsyncIterable<EntryColumns>) {
  const iterator = slices[Symbol.asyncIterator]();
  return {
    slice: nothing,
    ids: nowhere.ids,
    at: 0,
    hasMore(): boolean {
      return this.at < this.slice.count;
    },
    /** Goes to the next slice. Returns false after the last one. */
    async load(): Promise<boolean> {
      const { done, value } = await iterator.next();
      if (done) return false;
      this.slice = value;
      this.ids = halvesOf(value.petIds);
      this.at = 0;
      return true;
    },
    end: async () => iterator.return?.(),
  };
}

function compareCursors(one: Place, other: Place): number {
  return compareIds(one.ids, one.at, other.ids, other.at);
}

/** Collects differences. Leaves out pets with the same stock on both sides. */
function createDifferenceWriter() {
  let slice = emptyDifferences();
  let ids = halvesOf(slice.petIds);
  return {
    isFull: () => slice.count === sliceEntries,
    add(before: Place, after: Place): void {
      const [one, other] = [before.slice, after.slice];
      const [status, statusAfter] = [one.statuses[before.at]!, other.statuses[after.at]!];
      const [quantity, quantityAfter] = [one.quantities[before.at]!, other.quantities[after.at]!];
      if (status === statusAfter && (status === noEntry || quantity === quantityAfter)) return;
      const { count } = slice;
      const { ids: source, at } = before === nowhere ? after : before;
      ids[2 * count] = source[2 * at]!;
      ids[2 * count + 1] = source[2 * at + 1]!;
      slice.before.quantities[count] = quantity;
      slice.before.statuses[count] = status;
      slice.after.quantities[count] = quantityAfter;
      slice.after.statuses[count] = statusAfter;
      slice.count += 1;
    },
    take(): DifferenceColumns {
      const taken = slice;
      slice = emptyDifferences();
      ids = halvesOf(slice.petIds);
      return taken;
    },
  };
}

function emptyDifferences() {
  const [before, after] = [emptyColumns(sliceEntries), emptyColumns(sliceEntries)];
  return { count: 0, petIds: before.petIds, before, after };
}
