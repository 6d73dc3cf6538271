import { yieldToEventLoop } from "../running/background.ts";
import { compareIds, halvesOf } from "../values/int64-arrays.ts";
import { copyEntry, type EntryColumns, emptyColumns, noEntry, sliceEntries } from "./columns.ts";

/**
 * Applies changes to entries. Both are in ascending order of their ids, and so is the result, in
 * slices of `sliceEntries`. Parts of the entries are read as the result is read.
 */
export async function* applyChanges(
  parts: AsyncIterable<EntryColumns>,
  changes: EntryColumns,
): AsyncGenerator<EntryColumns> {
  const changedIds = halvesOf(changes.petIds);
  const out = createSliceWriter();
  let next = 0;
  for await (const part of parts) {
    const ids = halvesOf(part.petIds);
    let at = 0;
    while (at < part.count) {
      const order = next < changes.count ? compareIds(changedIds, next, ids, at) : 1;
      if (order <= 0) out.add(changes, changedIds, next++);
      else out.add(part, ids, at);
      if (order >= 0) at += 1;
      if (out.isFull()) {
        await yieldToEventLoop();
        yield out.take();
      }
    }
  }
  for (; next < changes.count; next++) {
    out.add(changes, changedIds, next);
    if (out.isFull()) {
      await yieldToEventLoop();
      yield out.take();
    }
  }
  const rest = out.take();
  if (rest.count > 0) yield rest;
}

/** Collects entries in columns. Leaves out pets that were removed. */
function createSliceWriter() {
  let slice = emptyColumns(sliceEntries);
  let ids = halvesOf(slice.petIds);
  return {
    isFull: () => slice.count === sliceEntries,
    add(from: EntryColumns, fromIds: Int32Array, index: number): void {
      if (from.statuses[index] === noEntry) return;
      copyEntry(from, fromIds, index, slice, ids, slice.count);
      slice.count += 1;
    },
    take(): EntryColumns {
      const taken = slice;
      slice = emptyColumns(sliceEntries);
      ids = halvesOf(slice.petIds);
      return taken;
    },
  };
}
