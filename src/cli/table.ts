import { rowsPerPageMax } from "../domain/history/history.ts";
import type { Page } from "../domain/ledger/store.ts";
import { once } from "../domain/values/once.ts";
import { printable } from "../output.ts";
import { writeText } from "./files.ts";

export interface Column<Row> {
  readonly title: string;
  readonly align: "left" | "right";
  readonly cell: (row: Row) => string;
  /** Belongs to the column before it: one space instead of two separates them. */
  readonly isJoined?: boolean;
  /** For a last column that is not cut: where it does not fit, it is on a line of its own. */
  readonly isWhole?: boolean;
}

/**
 * Writes pages of rows as the lines of a table, one piece per page. A column is as wide as its widest
 * cell so far, because rows are written as they are read. Where `widthOf` returns the width of a
 * terminal, the last column is cut to it. Control characters are escaped.
 */
export async function* tableLines<Row>(
  pages: AsyncIterable<readonly Row[]>,
  columns: readonly Column<Row>[],
  widthOf: () => number | undefined,
): AsyncGenerator<string> {
  const widths = columns.map(() => 0);

  function lines(rows: readonly (readonly string[])[]): string {
    for (const row of rows) {
      row.forEach((cell, at) => {
        widths[at] = Math.max(widths[at]!, Bun.stringWidth(cell));
      });
    }
    const width = widthOf();
    return rows.map((row) => `${lineOf(row, columns, widths, width)}\n`).join("");
  }

  let titles = [columns.map(({ title }) => title)];
  for await (const page of pages) {
    const rows = page.map((row) => columns.map(({ cell }) => printable(cell(row))));
    yield lines([...titles, ...rows]);
    titles = [];
  }
  if (titles.length > 0) yield lines(titles);
}

/** A last column that has less room than this is not cut further. */
const lastWidthMin = 10;

function lineOf(
  cells: readonly string[],
  columns: readonly Column<never>[],
  widths: readonly number[],
  widthMax: number | undefined,
): string {
  let line = "";
  const last = cells.length - 1;
  cells.forEach((cell, at) => {
    const { align, isJoined, isWhole } = columns[at]!;
    if (at > 0) line += isJoined ? " " : "  ";
    const fill = " ".repeat(widths[at]! - Bun.stringWidth(cell));
    if (align === "right") line += fill + cell;
    else if (at < last) line += cell + fill;
    else if (widthMax && isWhole && Bun.stringWidth(line + cell) > widthMax)
      line = `${line.trimEnd()}\n    ${cell}`;
    else
      line += widthMax ? cut(cell, Math.max(lastWidthMin, widthMax - Bun.stringWidth(line))) : cell;
  });
  return line.trimEnd();
}

/** Shortens a text to a width. The last character is then an ellipsis. */
export function cut(text: string, widthMax: number): string {
  if (Bun.stringWidth(text) <= widthMax) return text;
  const kept = Bun.sliceAnsi(text, 0, widthMax - 1);
  // It keeps a wide character of which one column fits.
  const isTooWide = Bun.stringWidth(kept) === widthMax;
  return `${isTooWide ? Bun.sliceAnsi(text, 0, widthMax - 2) : kept}…`;
}

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

/** Reads a list page by page, up to `limit` rows. The first page begins at `from`, if that is given. */
export async function* pagesOf<Row>(
  read: (from: number | undefined, limit: number) => Promise<Page<Row>>,
  from?: number,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Row[]> {
  let next = from;
  let wanted = limit;
  do {
    const page = await read(next, Math.min(wanted, rowsPerPageMax));
    yield page.rows;
    wanted -= page.rows.length;
    next = page.next;
  } while (next !== undefined && wanted > 0);
}

/** Prints a few rows as a table. */
export function printTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Promise<void> {
  return writeText("-", tableLines(once(rows), columns, widthOf));
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
