import { delimiters } from "./formats.ts";
import { BrokenText, columnsMax, tooManyColumns } from "./lines.ts";

/** The delimiter of a file with this header: the one that it has most often, outside of quotes. */
export function delimiterOf(header: string): string {
  const plain = header.replace(/"[^"]*"/g, "");
  const countOf = (delimiter: string) => plain.split(delimiter).length;
  return Object.values(delimiters).reduce((best, one) =>
    countOf(one) > countOf(best) ? one : best,
  );
}

/**
 * Splits one row of separated values into cells, as RFC 4180 defines them. A quoted cell may contain
 * delimiters, line breaks and doubled quotes. The row may end with CR.
 */
export function splitCells(line: number, text: string, delimiter = ","): string[] {
  const row = text.endsWith("\r") ? text.slice(0, -1) : text;
  const isPlain = !row.includes('"');
  const cells = isPlain ? row.split(delimiter, columnsMax + 1) : [];
  for (let at = 0; ; at++) {
    if (cells.length > columnsMax) throw new BrokenText(line, tooManyColumns);
    if (isPlain) return cells;
    const end = row[at] === '"' ? closingQuote(line, row, at) + 1 : next(row, delimiter, at);
    if (end < row.length && row[end] !== delimiter) throw unexpectedQuote(line);
    const cell = row.slice(at, end);
    if (cell.startsWith('"')) cells.push(cell.slice(1, -1).replaceAll('""', '"'));
    else if (cell.includes('"')) throw unexpectedQuote(line);
    else cells.push(cell);
    at = end;
    if (at >= row.length) return cells;
  }
}

function next(row: string, delimiter: string, at: number): number {
  const found = row.indexOf(delimiter, at);
  return found < 0 ? row.length : found;
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
