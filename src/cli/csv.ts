import { Refusal } from "../domain/errors.ts";
import type { Source } from "./lines.ts";

/**
 * The cells of one row of comma-separated values as RFC 4180 has them: a quoted cell may hold
 * commas, line ends and doubled quotes; the row may end in CR.
 */
export function splitCells({ line, text }: Source): string[] {
  const row = text.endsWith("\r") ? text.slice(0, -1) : text;
  const cells: string[] = [];
  for (let at = 0; ; at++) {
    const end = row[at] === '"' ? closingQuote(line, row, at) + 1 : nextComma(row, at);
    if (end < row.length && row[end] !== ",") throw misplacedQuote(line);
    const cell = row.slice(at, end);
    if (cell.startsWith('"')) cells.push(cell.slice(1, -1).replaceAll('""', '"'));
    else if (cell.includes('"')) throw misplacedQuote(line);
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
    if (at < 0) throw new Refusal("invalid_request", `line ${line}: a quote is never closed`);
    if (row[at + 1] !== '"') return at;
  }
}

function misplacedQuote(line: number): Refusal {
  return new Refusal("invalid_request", `line ${line}: a quote stands where none can`);
}

/** One cell as it has to be written. */
export function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
