import { daysLeft } from "./lasting.ts";
import { foldCase, type StockTable } from "./table.ts";

export const sortColumns = ["id", "name", "category", "quantity", "status", "change"] as const;
/** "lasts" takes the place of "change" in the list. */
export type SortColumn = (typeof sortColumns)[number] | "lasts";

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
    category: () => categoryKeys(table),
    quantity: () => table.quantities,
    status: () => table.statusCodes,
    change: () => table.versions,
    lasts: () => table.ids.map((petId, row) => daysLeft(petId, table.quantities[row]!)),
  }[column]();
  return rows.sort((one, other) => sign * (values[one]! - values[other]!));
}

/** For each row, the place of its category among all categories. */
function categoryKeys({ categories, categoryCodes }: StockTable): readonly number[] {
  const folded = categories.map(foldCase);
  const inOrder = new Map(folded.toSorted().map((text, place) => [text, place]));
  const places = folded.map((text) => inOrder.get(text)!);
  return categoryCodes.map((code) => places[code]!);
}

/**
 * Returns the rows whose id, name and category contain all words of the query, in the given order. The pet
 * whose barcode is the query comes before them.
 */
export function searchRows(table: StockTable, sorted: Uint32Array, query: string): Uint32Array {
  const words = foldCase(query).split(/\s+/);
  const found = words.reduce((rows, word) => containing(rows, table, word), sorted);
  const scanned = table.findScanned(query);
  if (scanned === undefined || found.includes(scanned)) return found;
  return Uint32Array.from([scanned, ...found]);
}

/** Plain loops: with 100,000 rows, this is the time that a key takes to appear. */
function containing(rows: Uint32Array, table: StockTable, word: string): Uint32Array {
  if (word === "") return rows;
  const { searchTexts, categories, categoryCodes } = table;
  const hasWord = categories.map((category) => foldCase(category).includes(word));
  const found = new Uint32Array(rows.length);
  let total = 0;
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index]!;
    if (searchTexts[row]!.includes(word) || hasWord[categoryCodes[row]!]) {
      found[total] = row;
      total += 1;
    }
  }
  return found.subarray(0, total);
}

/** Returns how many rows have each status, by the index of the status. */
export function countStatuses(rows: Uint32Array, codes: readonly number[]): readonly number[] {
  const counts = [0, 0, 0];
  for (let index = 0; index < rows.length; index += 1) counts[codes[rows[index]!]!]! += 1;
  return counts;
}
