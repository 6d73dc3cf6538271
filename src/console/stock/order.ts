import { foldCase, type StockTable } from "./table.ts";

export const sortColumns = ["id", "name", "category", "quantity", "status", "change"] as const;
export type SortColumn = (typeof sortColumns)[number];

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
  const keys = { quantity: table.quantities, status: table.statusCodes, change: table.versions };
  const values = column === "category" ? categoryKeys(table) : keys[column];
  return rows.sort((one, other) => sign * (values[one]! - values[other]!));
}

/** For each row, the place of its category among all categories. */
function categoryKeys({ categories, categoryCodes }: StockTable): readonly number[] {
  const folded = categories.map(foldCase);
  const places = new Uint32Array(folded.length);
  const order = [...folded.keys()].sort((one, other) => (folded[one]! < folded[other]! ? -1 : 1));
  for (const [place, code] of order.entries()) places[code] = place;
  return categoryCodes.map((code) => places[code]!);
}

/** Returns the rows whose id, name and category contain all words of the query, in the given order. */
export function searchRows(table: StockTable, sorted: Uint32Array, query: string): Uint32Array {
  const words = foldCase(query).split(/\s+/);
  return words.reduce((rows, word) => containing(rows, table, word), sorted);
}

/** Plain loops: with 100,000 rows, this is the time that a key takes to appear. */
function containing(rows: Uint32Array, table: StockTable, word: string): Uint32Array {
  if (word === "") return rows;
  const { searchTexts, categories, categoryCodes } = table;
  const hasWord = categories.map((category) => foldCase(category).includes(word));
  const found = new Uint32Array(rows.length);
  let count = 0;
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index]!;
    if (searchTexts[row]!.includes(word) || hasWord[categoryCodes[row]!]) {
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

/** Returns the rows of one category, or all if it is undefined. An empty text means: without one. */
export function rowsOfCategory(
  { categories, categoryCodes }: StockTable,
  rows: Uint32Array,
  category: string | undefined,
): Uint32Array {
  if (category === undefined) return rows;
  const code = categories.indexOf(category);
  return rows.filter((row) => categoryCodes[row] === code);
}

/** Returns the most common categories, by name, and how many others there are. */
export function listCategories(
  { categories, categoryCodes }: StockTable,
  rows: Uint32Array,
  countMax: number,
): { readonly listed: readonly string[]; readonly othersCount: number } {
  const counts = new Uint32Array(categories.length);
  for (let index = 0; index < rows.length; index += 1) counts[categoryCodes[rows[index]!]!]! += 1;
  const codes = [...counts.keys()].filter((code) => code > 0 && counts[code]! > 0);
  const common = codes.sort((one, other) => counts[other]! - counts[one]!).slice(0, countMax);
  const listed = common.map((code) => categories[code]!);
  return {
    listed: listed.sort((one, other) => one.localeCompare(other)),
    othersCount: codes.length - listed.length,
  };
}
