import type { Position } from "../ledger/epochs.ts";
import type { InventoryReader } from "../ledger/store.ts";
import { yieldToEventLoop } from "../running/background.ts";
import type { MaybePromise } from "../running/clock.ts";
import { unavailable } from "../running/errors.ts";
import { once } from "../values/once.ts";
import { createStockChanges } from "./changes.ts";
import type { EntryColumns } from "./columns.ts";
import { compareInventories, type DifferenceColumns } from "./differences.ts";
import { applyChanges } from "./merge.ts";
import { readParts, UnreadablePart, unpackPart } from "./parts.ts";
import type { Checkpoint, CheckpointReader } from "./store.ts";

/** The parts of a store that inventories of the past are made from. */
export interface SnapshotSource {
  readonly inventory: Pick<
    InventoryReader,
    "stockAfter" | "undoFrom" | "ledgerAfter" | "isOutdated"
  >;
  readonly checkpoints: CheckpointReader;
}

/** How many rows are read and applied in one turn of the event loop: about two milliseconds of work. */
const sliceRows = 2_048;

/**
 * Up to this many rows between two moments are read to find their differences. Beyond it, two
 * checkpoints with the rows after each are less work.
 */
const rowsComparedDefault = 100_000;

/**
 * The whole inventory as of a ledger row, by ascending pet id, in slices. The epoch of the position
 * is that of the head when the row was chosen. The rows between it and the nearest checkpoint are
 * read before the function returns, and the checkpoint as the slices are read. Throws `unavailable`
 * if the store is replaced in the meantime, or when `signal` is aborted.
 */
export async function inventoryAt(
  source: SnapshotSource,
  position: Position,
  signal?: AbortSignal,
): Promise<AsyncIterable<EntryColumns>> {
  const { seq, epoch } = position;
  const reading = { source, epoch, signal };
  const checkpoint = await findNearest(source, seq);
  // Rows after the position are undone from the last to the first.
  const changes = createStockChanges("last");
  const start = checkpoint?.seq ?? 0;
  if (start > seq) {
    await readRows(source.inventory.undoFrom, reading, start, seq, (rows) => {
      for (const { petId, before, previous } of rows) changes.add(petId, before, previous ?? 0);
      return changes.isFull() ? changes.compact() : undefined;
    });
  } else {
    await readRows(source.inventory.stockAfter, reading, start, seq, (rows) => {
      for (const row of rows) changes.add(row.petId, row.after, row.seq);
      return changes.isFull() ? changes.compact() : undefined;
    });
  }
  const parts = checkpoint ? partsOf(source, checkpoint, epoch) : noParts();
  return applyChanges(parts, await changes.sorted());
}

async function findNearest(
  { checkpoints }: SnapshotSource,
  seq: number,
): Promise<Checkpoint | undefined> {
  const before = await checkpoints.findCheckpoint(seq);
  const after = await checkpoints.findNextCheckpoint(seq);
  const isNearer = after && after.seq - seq < seq - (before?.seq ?? 0);
  return isNearer ? after : before;
}

/**
 * The pets whose stock differs between two moments, by ascending id, in slices. A pet without an
 * entry at one of them differs too. `from` may be later than `to`. Both positions have the same epoch.
 */
export async function differencesBetween(
  source: SnapshotSource,
  from: Position,
  to: Position,
  signal?: AbortSignal,
  rowsComparedMax = rowsComparedDefault,
): Promise<AsyncIterable<DifferenceColumns>> {
  if (Math.abs(to.seq - from.seq) > rowsComparedMax) {
    const before = await inventoryAt(source, from, signal);
    return compareInventories(before, await inventoryAt(source, to, signal));
  }
  const [first, last] = from.seq < to.seq ? [from, to] : [to, from];
  const before = createStockChanges("first");
  const after = createStockChanges("last");
  await readRows(
    source.inventory.ledgerAfter,
    { source, epoch: first.epoch, signal },
    first.seq,
    last.seq,
    (rows) => {
      for (const row of rows) {
        before.add(row.petId, row.before, 0);
        after.add(row.petId, row.after, row.seq);
      }
    },
  );
  const ends = await Promise.all([before.sorted(), after.sorted()]);
  const [one, other] = first === from ? ends : ends.toReversed();
  return compareInventories(once(one!), once(other!));
}

interface Reading {
  readonly source: SnapshotSource;
  readonly epoch: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Reads the rows between two, in slices: after `from` up to `to`, or where `to` is less, from `from`
 * down to the row after `to`. The next slice is read while one is applied.
 */
async function readRows<T extends { readonly seq: number }>(
  read: (seq: number, rowsMax: number) => MaybePromise<readonly T[]>,
  { source, epoch, signal }: Reading,
  from: number,
  to: number,
  apply: (rows: readonly T[]) => MaybePromise<void>,
): Promise<void> {
  const direction = from <= to ? 1 : -1;
  let at = from;
  const readNext = () => (at === to ? [] : read(at, Math.min(sliceRows, Math.abs(to - at))));
  let reading = readNext();
  while (at !== to) {
    const rows = await reading;
    assertCurrent(source, epoch);
    // Rows are numbered without gaps.
    const last = at + direction * rows.length + (direction > 0 ? 0 : 1);
    if (rows.length === 0 || rows.at(-1)!.seq !== last) throw unavailable("damaged");
    if (signal?.aborted) throw unavailable("timeout");
    at += direction * rows.length;
    reading = readNext();
    // Its failure is handled when it is awaited, unless applying these rows fails before.
    if (reading instanceof Promise) reading.catch(() => {});
    await apply(rows);
    await yieldToEventLoop();
  }
}

/** Reads the parts of a checkpoint in order. */
async function* partsOf(
  source: SnapshotSource,
  { seq, entries }: Checkpoint,
  epoch: string,
): AsyncGenerator<EntryColumns> {
  let read = 0;
  for await (const { data } of readParts(source.checkpoints, seq)) {
    assertCurrent(source, epoch);
    const part = unpack(data);
    read += part.count;
    yield part;
  }
  assertCurrent(source, epoch);
  if (read !== entries) throw unavailable("damaged");
}

function unpack(data: Uint8Array): EntryColumns {
  try {
    return unpackPart(data);
  } catch (error) {
    throw error instanceof UnreadablePart ? unavailable("damaged") : error;
  }
}

/** Rows and parts that were read before and after a failover do not belong together. */
function assertCurrent({ inventory }: SnapshotSource, epoch: string): void {
  if (inventory.isOutdated(epoch)) throw unavailable("unreachable");
}

async function* noParts(): AsyncGenerator<EntryColumns> {}
