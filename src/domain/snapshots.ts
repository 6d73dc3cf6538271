import type { Position } from "./epochs.ts";
import { unavailable } from "./errors.ts";
import { yieldToEventLoop } from "./event-loop.ts";
import type { Checkpoint, CheckpointReader, InventoryReader, MaybePromise } from "./ports.ts";
import { createStockChanges } from "./snapshots/changes.ts";
import type { EntryColumns } from "./snapshots/columns.ts";
import { compareInventories, type DifferenceColumns } from "./snapshots/differences.ts";
import { applyChanges } from "./snapshots/merge.ts";
import { UnreadablePart, unpackPart } from "./snapshots/parts.ts";

/** The parts of a store that inventories of the past are made from. */
export interface SnapshotSource {
  readonly inventory: Pick<InventoryReader, "stockAfter" | "ledgerAfter" | "isOutdated">;
  readonly checkpoints: CheckpointReader;
}

/** How many rows are read and applied in one turn of the event loop: a few milliseconds of work. */
const sliceRows = 4_096;

/** Parts of a checkpoint that are read at a time. */
const partsAtOnce = 4;

/**
 * Up to this many rows between two moments are read to find their differences. Beyond it, two
 * checkpoints with the rows after each are less work.
 */
const rowsComparedDefault = 100_000;

/**
 * The whole inventory as of a ledger row, by ascending pet id, in slices. The epoch of the position
 * is that of the head when the row was chosen. The rows since the last checkpoint are read before
 * the function returns, and the checkpoint as the slices are read. Throws `unavailable` if the store
 * is replaced in the meantime, or when `signal` is aborted.
 */
export async function inventoryAt(
  source: SnapshotSource,
  position: Position,
  signal?: AbortSignal,
): Promise<AsyncIterable<EntryColumns>> {
  const checkpoint = await source.checkpoints.findCheckpoint(position.seq);
  const start = checkpoint?.seq ?? 0;
  const changes = createStockChanges("last");
  await readRows(
    source.inventory.stockAfter,
    { source, epoch: position.epoch, signal },
    start,
    position.seq,
    async (rows) => {
      for (const row of rows) changes.add(row);
      if (changes.isFull) await changes.compact();
    },
  );
  const parts = checkpoint ? partsOf(source, checkpoint, position.epoch) : noParts();
  return applyChanges(parts, await changes.sorted());
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
        before.add({ ...row, after: row.before });
        after.add(row);
      }
    },
  );
  const ends = await Promise.all([before.sorted(), after.sorted()]);
  const [one, other] = first === from ? ends : ends.toReversed();
  return compareInventories(inOneSlice(one!), inOneSlice(other!));
}

interface Reading {
  readonly source: SnapshotSource;
  readonly epoch: string;
  readonly signal: AbortSignal | undefined;
}

/** Reads the rows after `from` up to `to`, in slices. The next one is read while one is applied. */
async function readRows<T extends { readonly seq: number }>(
  read: (after: number, rowsMax: number) => MaybePromise<readonly T[]>,
  { source, epoch, signal }: Reading,
  from: number,
  to: number,
  apply: (rows: readonly T[]) => MaybePromise<void>,
): Promise<void> {
  let last = from;
  const readNext = () => (last < to ? read(last, Math.min(sliceRows, to - last)) : []);
  let reading = readNext();
  while (last < to) {
    const rows = await reading;
    assertCurrent(source, epoch);
    // Rows are numbered without gaps.
    if (rows.length === 0 || rows.at(-1)!.seq !== last + rows.length) throw unavailable("damaged");
    if (signal?.aborted) throw unavailable("timeout");
    last += rows.length;
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
  let after: bigint | null = null;
  let read = 0;
  while (read < entries) {
    const parts = await source.checkpoints.partsAfter(seq, after, partsAtOnce);
    assertCurrent(source, epoch);
    if (parts.length === 0) throw unavailable("damaged");
    for (const { firstPetId, data } of parts) {
      const part = unpack(data);
      read += part.count;
      after = firstPetId;
      yield part;
    }
  }
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

async function* inOneSlice(entries: EntryColumns): AsyncGenerator<EntryColumns> {
  yield entries;
}

async function* noParts(): AsyncGenerator<EntryColumns> {}
