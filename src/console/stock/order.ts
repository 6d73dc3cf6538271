import { daysLeft } from "./lasting.ts";
import { foldCase, type StockTable } from "./table.ts";

export type SortColumn = "id" | "name" | "quantity" | "status" | "change" | "lasts";

export interface Sort {
  readonly column: SortColumn;
  readonly isDescending: boolean;
}

/** Returns all rows that are not removed, sorted. */
export function sortRows(table: StockTable, { column, isDescending }: Sort): Uint32Array {
  const all = column === "name" ? table.rowsByName : Uint32Array.from(table.rowsById);
  const rows = all.filter((row) => !table.isRemoved[row]);
  if (column === "id" || column === "name") return isDescending ? rows.reverse() : rows;
  const sign = isDescending ? -1 : 1;
  const values = {
    quantity: () => table.quantities,
    status: () => table.statusCodes,
    change: () => table.versions,
    lasts: () => table.ids.map((petId, row) => daysLeft(petId, table.quantities[row]!)),
  }[column]();
  return rows.sort((one, other) => sign * (values[one]! - values[other]!));
}

/**
 * Returns the rows whose id and name contain all words of the query, in the given order. The pet whose
 * barcode is the query comes before them.
 */
export function searchRows(table: StockTable, sorted: Uint32Array, query: string): Uint32Array {
  const words = foldCase(query).split(/\s+/);
  const found = words.reduce((rows, word) => containing(rows, table.searchTexts, word), sorted);
  const scanned = table.findScanned(query);
  if (scanned === undefined || found.includes(scanned)) return found;
  const all = new Uint32Array(found.length + 1).fill(scanned, 0, 1);
  all.set(found, 1);
  return all;
}

/** Plain loops: with 100,000 rows, this is the time that a key takes to appear. */
function containing(rows: Uint32Array, texts: readonly string[], word: string): Uint32Array {
  if (word === "") return rows;
  const found = new Uint32Array(rows.length);
  let count = 0;
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index]!;
    if (texts[row]!.includes(word)) {
      found[count] = row;
      count += 1;
    }
  }
  return found.subarray(0, count);
}

/** Returns how many rows have each status, by the index of the status. */
export function countStatuses(rows: Uint32Array, codes: readonly number[]): readonly number[] {
  const counts = [0, 0, 0];
  for (let index = 0; index < rows.length; index += 1) counts[codes[rows[index]!]!]! += 1;
  return counts;
}
