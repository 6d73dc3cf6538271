// How values are written into a CSV file so that spreadsheet programs change none of them.

/** A spreadsheet program takes a cell that starts like this for a formula, and may run it. */
const startsFormula = /^'*[=+\-@\t\r]/;

/**
 * A text that no spreadsheet program runs as a formula: with an apostrophe before it, if it needs one. A
 * text that already looks like that gets one more, so that `original` always returns what was there.
 */
export function neutralised(text: string): string {
  return startsFormula.test(text) ? `'${text}` : text;
}

/** The text that `neutralised` was given. */
export function original(text: string): string {
  return text.startsWith("'") && startsFormula.test(text) ? text.slice(1) : text;
}

/** Spreadsheet programs keep 15 digits of a number. */
const idOfFewDigits = /^-?[0-9]{1,15}$/;

/**
 * An id as a cell. A spreadsheet program would round an id of more digits, often without a trace. It
 * keeps all digits of the formula `="9007199254740993"`, whose value is a text. Other programs that
 * read such ids are better served by NDJSON or JSON.
 */
export function exactId(digits: string): string {
  return idOfFewDigits.test(digits) ? digits : `="${digits}"`;
}

/**
 * A barcode as a cell, also as a formula whose value is a text. A spreadsheet program would remove zeros
 * at its start, or save only the first of its digits with an exponent.
 */
export function exactCode(code: string): string {
  return `="${code.replaceAll('"', '""')}"`;
}

/** What `exactId` or `exactCode` was given. A plain cell is returned as it is. */
export function exactText(cell: string): string {
  const marked = cell.startsWith("=") ? /^="(.*)"$/.exec(cell)?.[1] : undefined;
  return marked?.replaceAll('""', '"') ?? cell;
}

/** Quotes a cell if it needs quotes. */
export function csvCell(text: string, delimiter = ","): string {
  const needsQuotes = /["\r\n]|^\s|\s$/.test(text) || text.includes(delimiter);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}
