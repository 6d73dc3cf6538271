import { type Delimiter, delimiterNames, delimiters } from "./formats.ts";
import { BrokenText } from "./lines.ts";

/** Quotes a cell if it needs quotes. */
export function csvCell(text: string, delimiter = ","): string {
  const needsQuotes = /["\r\n]|^\s|\s$/.test(text) || text.includes(delimiter);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet program would run as a formula, and a text that already has marks before it. */
const formulaLike = /^'*[=+\-@\t\r]/;

/** Marks a text that a spreadsheet program would run as a formula with an apostrophe. */
export function withMark(text: string): string {
  return formulaLike.test(text) ? `'${text}` : text;
}

/** The text before it was marked. A text without a mark stays as it is. */
export function withoutMark(text: string): string {
  return text.startsWith("'") && formulaLike.test(text) ? text.slice(1) : text;
}

/** Spreadsheet programs keep 15 digits of a number. */
const idOfFewDigits = /^-?[0-9]{1,15}$/;

/**
 * An id as a cell. A spreadsheet program would round an id of more digits, often without a trace. It
 * keeps all digits of the formula `="9007199254740993"`, whose value is a text. Other programs that
 * read such ids are better served by NDJSON or JSON.
 */
export function csvId(id: bigint): string {
  const digits = String(id);
  return idOfFewDigits.test(digits) ? digits : `="${digits}"`;
}

/** The digits of an id in a cell. */
export function readCsvId(cell: string): string {
  return cell.startsWith("=") ? (/^="(.*)"$/.exec(cell)?.[1] ?? cell) : cell;
}

/** The delimiter of a file with this header: the one that finds most of the known names, or most cells. */
export function findDelimiterOf(header: string, known: (cell: string) => boolean): Delimiter {
  let best: Delimiter = "comma";
  let bestScore = 0;
  for (const name of delimiterNames) {
    let cells: readonly string[];
    try {
      cells = splitCells(1, header, delimiters[name]);
    } catch {
      // A quote in the middle of a cell: this is not the delimiter.
      continue;
    }
    const score = cells.length - 1 + 1_000_000 * cells.filter(known).length;
    if (score > bestScore) [best, bestScore] = [name, score];
  }
  return best;
}

/**
 * Splits one row of separated values into cells, as RFC 4180 defines them. A quoted cell may contain
 * delimiters, line breaks and doubled quotes. The row may end with CR.
 */
export function splitCells(line: number, text: string, delimiter = ","): string[] {
  const row = text.endsWith("\r") ? text.slice(0, -1) : text;
  if (!row.includes('"')) return row.split(delimiter);
  const cells: string[] = [];
  for (let at = 0; ; at++) {
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
