import { BrokenText } from "./lines.ts";

/**
 * Quotes a cell if it needs quotes. The text itself is never changed, also if it starts with `=`, `+`,
 * `-` or `@`: a mark that keeps a spreadsheet program from running it as a formula would become part
 * of the name when the file is imported again.
 */
export function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
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

/**
 * A barcode as a cell, also as a formula whose value is a text. A spreadsheet program would remove zeros
 * at its start, or save only the first of its digits with an exponent.
 */
export function csvCode(code: string): string {
  return `="${code.replaceAll('"', '""')}"`;
}

/** The text of a cell that `csvId` or `csvCode` has made, or of a plain one. */
export function readMarkedCell(cell: string): string {
  const marked = cell.startsWith("=") ? /^="(.*)"$/.exec(cell)?.[1] : undefined;
  return marked?.replaceAll('""', '"') ?? cell;
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
