import { fetchResponse, readText } from "../client/api.ts";
import { parseExactly } from "../client/exact-json.ts";
import type { InventoryItem, Stock } from "../client/types.ts";
import { foldCase, type StockTable } from "../stock/table.ts";

/** The inventory after a change. */
export interface PastInventory {
  /** The number of the last change before that moment. */
  readonly seq: number;
  readonly entries: readonly InventoryItem[];
}

/** One pet at that moment and now. Null if there was, or is, no such pet. */
export interface MomentRow {
  readonly petId: string;
  readonly name: string;
  readonly before: Stock | null;
  readonly now: Stock | null;
}

/** `at` is a time or the number of a change. */
export async function loadPast(at: string, signal: AbortSignal): Promise<PastInventory> {
  const response = await fetchResponse(`/snapshots/${encodeURIComponent(at)}`, { signal });
  const location = response.headers.get("content-location") ?? "";
  const seq = Number(/\/(\d+)$/.exec(location)?.[1] ?? 0);
  return {
    seq,
    entries: parseExactly(await readText(response, signal)) as readonly InventoryItem[],
  };
}

/** All pets that existed then or exist now, in the order of their ids. New ones come last. */
export function compareWithNow({ entries }: PastInventory, table: StockTable): MomentRow[] {
  const known = new Set<number>();
  const rows = entries.map((before): MomentRow => {
    const { petId } = before;
    const row = table.findRow(petId);
    if (row === undefined) return { petId, name: "", before, now: null };
    known.add(row);
    const now = table.entryAt(row);
    return { petId, name: now.name, before, now };
  });
  for (const row of table.rowsById) {
    if (known.has(row) || table.isRemoved[row]) continue;
    const now = table.entryAt(row);
    rows.push({ petId: now.petId, name: now.name, before: null, now });
  }
  return rows;
}

export function isDifferent({ before, now }: MomentRow): boolean {
  return before?.quantity !== now?.quantity || before?.status !== now?.status;
}

/** The rows whose id or name contains a text. */
export function searchRows(rows: readonly MomentRow[], text: string): readonly MomentRow[] {
  const wanted = foldCase(text.trim());
  if (wanted === "") return rows;
  return rows.filter(({ petId, name }) => `${petId} ${foldCase(name)}`.includes(wanted));
}
