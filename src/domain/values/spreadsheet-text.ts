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
