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

/** The digits of an id in a cell. */
export function readCsvId(cell: string): string {
  return /^="(.*)"$/.exec(cell)?.[1] ?? cell;
}
