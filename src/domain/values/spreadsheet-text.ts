// How values are written into a CSV file so that spreadsheet programs change none of them.

/** What a cell of a CSV file holds. An import makes a JSON value of this kind of it. */
export type CellKind = "id" | "integer" | "flag" | "text" | "code" | "texts";

/**
 * Where a cell can start. A program that splits the file at another character, or that does not know
 * quotes, starts one inside of a text, too.
 */
const cellStart = "(?<=[,;|\\t\\r\\n])";
const firstCellStart = `(?:^|${cellStart})`;
/** A spreadsheet program takes a cell that starts like this for a formula, and may run it. */
const formula = `(?=['"]*[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20])`;

const marks = (start: string) => ({
  missing: new RegExp(start + formula, "g"),
  present: new RegExp(`${start}'${formula}`, "g"),
});
const inText = marks(firstCellStart);
const inCode = marks(cellStart);

/**
 * A text that no spreadsheet program runs as a formula, wherever it starts a cell: it has an apostrophe
 * before each start of a formula. A text that already has one there gets another, so that `original`
 * always returns what was there.
 */
export function neutralised(text: string): string {
  return text.replace(inText.missing, "'");
}

/** The text that `neutralised` was given. */
export function original(text: string): string {
  return text.replace(inText.present, "");
}

/** Spreadsheet programs keep 15 digits of a number. */
const idOfFewDigits = /^-?[0-9]{1,15}$/;

/**
 * An id as a cell. A spreadsheet program would round an id of more digits, often without a trace. It
 * keeps all digits of the formula `="9007199254740993"`, whose value is a text. Other programs that
 * read such ids are better served by NDJSON or JSON.
 */
function exactId(digits: string): string {
  return idOfFewDigits.test(digits) ? digits : `="${digits}"`;
}

/**
 * A barcode as a cell, also as a formula whose value is a text. A spreadsheet program would remove zeros
 * at its start, or save only the first of its digits with an exponent.
 */
function exactCode(code: string): string {
  return `="${code.replace(inCode.missing, "'").replaceAll('"', '""')}"`;
}

/** What `exactId` or `exactCode` was given. A plain cell is returned as it is. */
export function exactText(cell: string): string {
  const marked = cell.startsWith("=") ? /^="(.*)"$/.exec(cell)?.[1] : undefined;
  return (marked?.replaceAll('""', '"') ?? cell).replace(inCode.present, "");
}

/** Quotes a cell if it needs quotes. */
export function csvCell(text: string, delimiter = ","): string {
  const needsQuotes = /["\r\n]|^\s|\s$/.test(text) || text.includes(delimiter);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One row of a CSV file. Null and undefined are empty cells. */
export function csvLine(
  columns: Readonly<Record<string, CellKind>>,
  fields: Readonly<Record<string, unknown>>,
  delimiter = ",",
): string {
  return Object.entries(columns)
    .map(([column, kind]) => csvCell(cellText(kind, fields[column] ?? null), delimiter))
    .join(delimiter);
}

function cellText(kind: CellKind, value: unknown): string {
  if (value === null) return "";
  if (kind === "code") return exactCode(String(value));
  if (kind === "id") return exactId(String(value));
  return neutralised(Array.isArray(value) ? listCell(value) : String(value));
}

/** Joins items with bars. Writes a JSON array if a bar or a bracket in an item would be misread. */
function listCell(items: readonly string[]): string {
  const isPlain = items.every((item) => !item.includes("|")) && !items[0]?.startsWith("[");
  return isPlain ? items.join("|") : JSON.stringify(items);
}
