import { type PetStatus, petStatuses, quantityMax } from "../../domain/ledger/inventory.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import type { Store } from "../../domain/store.ts";
import type { Chunk } from "./chunks.ts";
import type { ListVersion } from "./list.ts";

/** How many entries have a status, and the sum of their quantities. */
export interface StatusTotal {
  entries: number;
  quantity: number;
}

export interface StockTotals {
  readonly byStatus: Record<PetStatus, StatusTotal>;
  /** How many entries are low. */
  low: number;
}

/**
 * Chunks never change, so each is counted once while the thresholds stay. A change to the list replaces
 * only some of them.
 */
const known = new WeakMap<Chunk, StockTotals & { readonly thresholds: string }>();

/**
 * Adds up the list by status, and counts what is low by the threshold of the pet or `defaultAt`. A sum
 * beyond 2^53 - 1, which a number cannot hold, is that number. Counts one chunk in each turn of the event
 * loop: a few milliseconds of work.
 */
export async function stockTotals(
  { chunks }: ListVersion,
  { audit, sales }: Pick<Store, "audit" | "sales">,
  defaultAt: number | null = null,
): Promise<StockTotals> {
  // A threshold changes with a row of the audit log, or with a new pet, which also changes its chunk.
  const [newest] = await audit.listEntries({}, 1);
  const thresholds = `${newest?.seq} ${newest?.at}`;
  const totals = noStock();
  for (const chunk of chunks) {
    let part = known.get(chunk);
    if (part?.thresholds !== thresholds) {
      await yieldToEventLoop();
      const { ids } = chunk;
      // A list without entries has a chunk without ids.
      const own = await sales.thresholdsFrom(ids[0] ?? 0n, ids.at(-1) ?? 0n, ids.length);
      const ownAt = new Map(own.map(({ petId, value }) => [petId, value]));
      part = { ...count(chunk, ownAt, defaultAt ?? -1), thresholds };
      known.set(chunk, part);
    }
    totals.low += part.low;
    for (const status of petStatuses) {
      const [total, { entries, quantity }] = [totals.byStatus[status], part.byStatus[status]];
      total.entries += entries;
      total.quantity = Math.min(quantityMax, total.quantity + quantity);
    }
  }
  return totals;
}

function noStock(): StockTotals {
  const none = () => ({ entries: 0, quantity: 0 });
  return { byStatus: { available: none(), pending: none(), sold: none() }, low: 0 };
}

/** The statuses by the last byte of their names. */
const statusByLastByte = new Map(
  petStatuses.map((status) => [status.charCodeAt(status.length - 1), status]),
);

/** What is between the quantity and the status of an entry. */
const separator = ',"status":"';
const closing = '"}';
const [digitZero, digitNine] = [0x30, 0x39];

/**
 * Reads each entry from its end, where the status and the quantity are. Parsing the text as JSON takes
 * ten times as long.
 */
function count(
  { bytes, ids, ends }: Chunk,
  thresholds: ReadonlyMap<bigint, number>,
  defaultAt: number,
): StockTotals {
  const totals = noStock();
  for (let index = 0; index < ends.length; index++) {
    const end = ends[index]!;
    const status = statusByLastByte.get(bytes[end - closing.length - 1]!)!;
    let at = end - closing.length - status.length - separator.length - 1;
    let quantity = 0;
    for (let scale = 1; ; scale *= 10) {
      const byte = bytes[at]!;
      if (byte < digitZero || byte > digitNine) break;
      quantity += (byte - digitZero) * scale;
      at -= 1;
    }
    if (quantity <= (thresholds.get(ids[index]!) ?? defaultAt)) totals.low += 1;
    const total = totals.byStatus[status];
    total.entries += 1;
    total.quantity = Math.min(quantityMax, total.quantity + quantity);
  }
  return totals;
}
