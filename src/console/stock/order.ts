import { foldCase, type StockTable } from "./table.ts";

export type SortColumn = "id" | "name" | "quantity" | "status" | "change";

export interface Sort {
  readonly column: SortColumn;
  readonly isDescending: boolean;
}

/** Returns all rows that are not removed, sorted. Equal rows are in the order of their ids. */
export function sortRows(table: StockTable, { column, isDescending }: Sort): Uint32Array {
  const rows = Uint32Array.from(table.rowsById).filter((row) => !table.isRemoved[row]);
  const sign = isDescending ? -1 : 1;
  if (column === "id") return isDescending ? rows.reverse() : rows;
  if (column === "name") {
    const names = table.names.map(foldCase);
    return rows.sort((one, other) => {
      const [a, b] = [names[one]!, names[other]!];
      return a < b ? -sign : a > b ? sign : 0;
    });
  }
  const keys = { quantity: table.quantities, status: table.statusCodes, change: table.versions };
  const values = keys[column];
  return rows.sort((one, other) => sign * (values[one]! - values[other]!));
}

export interface Matches {
  /** The rows whose id and name contain all words, in the given order. */
  readonly rows: Uint32Array;
  /** How many of them have each status, by the index of the status. */
  readonly counts: readonly number[];
}

/** Finds rows by words. A search that only adds letters looks at the matches of the one before. */
export class Search {
  #sorted: Uint32Array | undefined;
  #query = "";
  #found: Uint32Array | undefined;

  find(table: StockTable, sorted: Uint32Array, query: string): Matches {
    const folded = foldCase(query).trim();
    const isNarrower = sorted === this.#sorted && folded.startsWith(this.#query);
    const candidates = isNarrower && this.#found ? this.#found : sorted;
    const words = folded.split(/\s+/).filter((word) => word !== "");
    const { searchTexts } = table;
    const rows =
      words.length === 0
        ? sorted
        : candidates.filter((row) => {
            const text = searchTexts[row]!;
            return words.every((word) => text.includes(word));
          });
    this.#sorted = sorted;
    this.#query = folded;
    this.#found = rows;
    const counts = [0, 0, 0];
    for (const row of rows) counts[table.statusCodes[row]!]! += 1;
    return { rows, counts };
  }
}
