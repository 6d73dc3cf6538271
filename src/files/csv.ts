import { BrokenText } from "./lines.ts";

/**
 * Quotes a cell if it needs quotes. The text itself is never changed, also if it starts with `=`, `+`,
 * `-` or `@`: a mark that keeps a spreadsheet program from running it as a formula would become part
 * of the name when the file is imported again.
 */
export function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The digits of an id in a cell. */
export function readCsvId(cell: string): string {
  return cell.startsWith("=") ? (/^="(.*)"$/.exec(cell)?.[1] ?? cell) : cell;
}

/**
 * Splits one row of comma-separated values into cells, as RFC 4180 defines them. A quoted cell may
 * contain commas, line breaks and doubled quotes. The row may end with CR.
 */
export function splitCells(line: number, text: string): string[] {
  const row = text.endsWith("\r") ? text.slice(0, -1) : text;
  if (!row.includes('"')) return row.split(",");
  const cells: string[] = [];
  for (let at = 0; ; at++) {
    const end = row[at] === '"' ? closingQuote(line, row, at) + 1 : nextComma(row, at);
    if (end < row.length && row[end] !== ",") throw unexpectedQuote(line);
    const cell = row.slice(at, end);
    if (cell.startsWith('"')) cells.push(cell.slice(1, -1).replaceAll('""', '"'));
    else if (cell.includes('"')) throw unexpectedQuote(line);
    else cells.push(cell);
    at = end;
    if (at >= row.length) return cells;
  }
}

function nextComma(row: string, at: number): number {
  const comma = row.indexOf(",", at);
  return comma < 0 ? row.length : comma;
}

function closingQuote(line: number, row: string, opening: number): number {
  for (let at = opening + 1; ; at += 2) {
    at = row.indexOf('"', at);
    if (at < 0) throw new BrokenText(line, "unclosed quote");
    if (row[at + 1] !== '"') return at;
  }
}

function unexpectedQuote(line: number): BrokenText {
  const advice = "put the whole cell in quotes, and write each quote in it twice";
  return new BrokenText(line, `unexpected quote; ${advice}`);
}
