import type { FoundFile } from "../domain/catalogue/import-preview.ts";
import { BrokenText } from "./lines.ts";
import type { Cell } from "./table.ts";
import type { Bytes } from "./text.ts";
import { attributeOf, type Element, elementsIn, elementsOf, unescaped } from "./xml.ts";
import { openArchive, type ReadPart } from "./zip.ts";

/** A row of a sheet. Its line is its number. */
export interface SheetRow {
  readonly line: number;
  readonly cells: readonly Cell[];
}

/** The sheet is read in a stream. The texts that its cells refer to are kept in memory. */
const sheetBytesMax = 512 * 1_048_576;
const partBytesMax = 128 * 1_048_576;
const textsMax = 4_000_000;
const rowsMax = 1_048_576;
const columnsMax = 16_384;

/** Reads a sheet of a workbook: the one with this name, or the first one. Yields rows in batches. */
export async function* readSheet(
  bytes: Bytes,
  chosen: string | undefined,
  found: Partial<FoundFile>,
): AsyncGenerator<readonly SheetRow[]> {
  const read = await openArchive(bytes);
  const targets = await readTargets(read);
  const sheets = (await partElements(read, "xl/workbook.xml", "sheet"))
    .filter(({ attributes }) => (attributeOf(attributes, "state") ?? "visible") === "visible")
    .map(({ attributes }) => ({
      name: attributeOf(attributes, "name") ?? "",
      path: targets.get(attributeOf(attributes, "id") ?? "") ?? "",
    }))
    .filter(({ path }) => path.includes("worksheets/"));
  found.sheets = sheets.map(({ name }) => name);
  const sheet = chosen === undefined ? sheets[0] : sheets.find(({ name }) => name === chosen);
  if (!sheet) {
    const list = found.sheets.map((name) => `'${name}'`).join(", ");
    throw new BrokenText(
      1,
      `there is no sheet '${chosen ?? ""}'; the sheets are ${list || "none"}`,
    );
  }
  found.sheet = sheet.name;
  const [properties] = await partElements(read, "xl/workbook.xml", "workbookPr");
  const date1904 = properties && attributeOf(properties.attributes, "date1904");
  const context = {
    texts: await readTexts(read, targets.get("sharedStrings")),
    dateStyles: await readDateStyles(read, targets.get("styles")),
    firstDay: date1904 === "1" || date1904 === "true" ? 24_107 : 25_569,
  };
  let line = 0;
  for await (const rows of elementsOf("row", partOf(read, sheet.path, sheetBytesMax))) {
    yield rows.map(({ attributes, content }) => {
      const number = Number(attributeOf(attributes, "r") ?? line + 1);
      if (!(number > line && number <= rowsMax)) throw badPlace(line + 1);
      line = number;
      return { line, cells: cellsOf(line, content, context) };
    });
  }
}

function partOf(read: ReadPart, path: string, bytesMax = partBytesMax) {
  const part = read(path, bytesMax);
  if (!part) throw new BrokenText(1, `the file is not a workbook: it has no ${path}`);
  return part;
}

async function partElements(read: ReadPart, path: string, name: string): Promise<Element[]> {
  return (await Array.fromAsync(elementsOf(name, partOf(read, path)))).flat();
}

/** The paths of the parts of a workbook, by id, and those of which there is one also by type. */
async function readTargets(read: ReadPart): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, string>();
  const path = "xl/_rels/workbook.xml.rels";
  for (const { attributes } of await partElements(read, path, "Relationship")) {
    const target = attributeOf(attributes, "Target") ?? "";
    const name = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
    targets.set(attributeOf(attributes, "Type")?.split("/").at(-1) ?? "", name);
    targets.set(attributeOf(attributes, "Id") ?? "", name);
  }
  return targets;
}

/** The texts that cells refer to by number. */
async function readTexts(read: ReadPart, path: string | undefined): Promise<readonly string[]> {
  const texts: string[] = [];
  if (path === undefined) return texts;
  for await (const items of elementsOf("si", partOf(read, path))) {
    for (const { content } of items) texts.push(textIn(content));
    if (texts.length > textsMax) throw new BrokenText(1, "the workbook has too many texts");
  }
  return texts;
}

/** A text can have several parts with different fonts. Their phonetic readings are left out. */
function textIn(content: string): string {
  const shown = content.includes("<rPh") ? content.replace(/<rPh.*?<\/rPh>/gs, "") : content;
  const text = elementsIn("t", shown)
    .elements.map((part) => unescaped(part.content))
    .join("");
  // A character that XML cannot have is written as its number.
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`)));
}

/** The numbers of the styles that show a number as a date. */
async function readDateStyles(read: ReadPart, path: string | undefined) {
  const dateStyles = new Set<number>();
  if (path === undefined) return dateStyles;
  const dateFormats = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]);
  const formatOf = (attributes: string) => Number(attributeOf(attributes, "numFmtId"));
  for (const { attributes } of await partElements(read, path, "numFmt")) {
    // Texts in quotes, and colours and conditions in brackets, are not letters of a date.
    const code = attributeOf(attributes, "formatCode") ?? "";
    const letters = code.replace(/"[^"]*"|\[[^\]]*\]|\\./g, "");
    if (/[dmyhs]/i.test(letters)) dateFormats.add(formatOf(attributes));
  }
  const [styles] = await partElements(read, path, "cellXfs");
  for (const [at, { attributes }] of elementsIn("xf", styles?.content ?? "").elements.entries()) {
    if (dateFormats.has(formatOf(attributes))) dateStyles.add(at);
  }
  return dateStyles;
}

interface Context {
  readonly texts: readonly string[];
  readonly dateStyles: ReadonlySet<number>;
  /** The number of 1 January 1970 as a date. */
  readonly firstDay: number;
}

function cellsOf(line: number, row: string, context: Context): readonly Cell[] {
  const cells: Cell[] = [];
  for (const cell of elementsIn("c", row).elements) {
    const place = attributeOf(cell.attributes, "r");
    const column = place === undefined ? cells.length : columnOf(place);
    if (!(column >= cells.length && column < columnsMax)) throw badPlace(line);
    while (cells.length < column) cells.push("");
    cells.push(cellOf(cell, context));
  }
  return cells;
}

function badPlace(line: number): BrokenText {
  return new BrokenText(line, "the rows or cells of the sheet are not in order");
}

/** The column of a place such as `AB12`, from 0. */
function columnOf(place: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(place)?.[0] ?? "") {
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return column - 1;
}

/** The value of a cell as the text that a CSV file would have. Formulas have the last result. */
function cellOf({ attributes, content }: Element, { texts, dateStyles, firstDay }: Context): Cell {
  const value = unescaped(elementsIn("v", content).elements[0]?.content ?? "");
  switch (attributeOf(attributes, "t") ?? "n") {
    case "s":
      return (
        texts[Number(value)] ?? { value, rule: "refers to a text that the file does not have" }
      );
    case "inlineStr":
      return textIn(content);
    case "b":
      return value === "1" ? "true" : "false";
    case "e":
      return { value, rule: "is an error in the sheet" };
    case "n":
      if (value === "") return "";
      return numberCell(value, dateStyles.has(Number(attributeOf(attributes, "s"))), firstDay);
    default:
      return value;
  }
}

const dayMs = 86_400_000;

/**
 * A spreadsheet keeps 15 digits of a number. One of more digits may have been rounded, and nothing
 * shows it, so it is refused. Fractions have up to 17 digits in the file, of which the last are noise.
 */
function numberCell(value: string, isDate: boolean, firstDay: number): Cell {
  const number = Number(value);
  if (isDate && Math.abs(number) < 3e6) {
    const date = new Date(1_000 * Math.round(((number - firstDay) * dayMs) / 1_000)).toISOString();
    return date.endsWith("T00:00:00.000Z") ? date.slice(0, 10) : date;
  }
  if (Math.abs(number) < 1e15) return String(number);
  const advice = "take it from the original, and choose the type Text for this column";
  const rule = `is a number of more than 15 digits, which a spreadsheet program has rounded; ${advice}`;
  return { value, rule };
}
