import { type PetStatus, petStatuses, quantityMax } from "../../domain/ledger/inventory.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import type { ThresholdTable } from "../../domain/sales/thresholds.ts";
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
 * Chunks never change, so each is counted once for the same thresholds. A change to the list replaces only
 * some of them.
 */
const known = new WeakMap<Chunk, StockTotals & { readonly thresholds: ThresholdTable }>();

/** Chunks that are counted in one turn of the event loop: a few milliseconds of work. */
const sliceChunks = 2;

/** Adds up the list by status. A sum beyond 2^53 - 1, which a number cannot hold, is that number. */
export async function stockTotals(
  { chunks }: ListVersion,
  thresholds: ThresholdTable,
): Promise<StockTotals> {
  const totals = noStock();
  let counted = 0;
  for (const chunk of chunks) {
    let part = known.get(chunk);
    if (part?.thresholds !== thresholds) {
      if (counted > 0 && counted % sliceChunks === 0) await yieldToEventLoop();
      counted += 1;
      part = { ...count(chunk, thresholds), thresholds };
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
function count({ bytes, ids, ends }: Chunk, thresholds: ThresholdTable): StockTotals {
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
    if (thresholds.hasAny && quantity <= thresholds.of(ids[index]!)) totals.low += 1;
    const total = totals.byStatus[status];
    total.entries += 1;
    total.quantity = Math.min(quantityMax, total.quantity + quantity);
  }
  return totals;
}
