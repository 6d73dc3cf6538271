import { printable } from "../output.ts";
import { writeText } from "./files.ts";
import { type Column, tableLines } from "./table.ts";

/** How rows are printed: as a table for people, and as JSON for programs. */
export interface Listing<Row> {
  readonly columns: readonly Column<Row>[];
  readonly toJson: (row: Row) => string;
}

/**
 * Prints pages of rows as they arrive, as a table or as NDJSON. Waits for a slow reader.
 */
export function printRows<Row>(
  pages: AsyncIterable<readonly Row[]>,
  { columns, toJson }: Listing<Row>,
  asJson: boolean,
): Promise<void> {
  return writeText("-", asJson ? jsonLines(pages, toJson) : tableLines(pages, columns, widthOf));
}

/** Prints a few rows as a table. */
export function printTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Promise<void> {
  return writeText("-", tableLines(onePage(rows), columns, widthOf));
}

async function* onePage<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows;
}

function widthOf(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

async function* jsonLines<Row>(
  pages: AsyncIterable<readonly Row[]>,
  toJson: (row: Row) => string,
): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((row) => `${printable(toJson(row))}\n`).join("");
}
