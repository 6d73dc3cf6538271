import { BrokenText } from "./lines.ts";
import { type Cell, columnsMax, tooManyColumns } from "./table.ts";
import type { Bytes } from "./text.ts";
import * as xml from "./xml.ts";
import { readArchive, readPart } from "./zip.ts";

/** The sheet is read in a stream. Of other parts, much is kept in memory. */
const sheetBytesMax = 512 * 1_048_576;
const partBytesMax = 64 * 1_048_576;
const textsMax = 2_000_000;
/** More sheets, parts or formats than a workbook has. */
const elementsMax = 10_000;

/**
 * Reads the first visible sheet of a workbook. Yields rows in batches. The line of a row is its number,
 * and its cells end with the last one that has a value.
 */
export async function* readSheet(bytes: Bytes) {
  const archive = await readArchive(bytes);
  /** The paths of parts by id and, for those of which there is one, by type. */
  const paths = new Map<string, string>();
  for (const { attributes } of await all(archive, "xl/_rels/workbook.xml.rels", "Relationship")) {
    const target = xml.attributeOf(attributes, "Target") ?? "";
    const path = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
    paths.set(xml.attributeOf(attributes, "Type")?.split("/").at(-1) ?? "", path);
    paths.set(xml.attributeOf(attributes, "Id") ?? "", path);
  }
  const sheet = (await all(archive, "xl/workbook.xml", "sheet")).find(
    ({ attributes }) => (xml.attributeOf(attributes, "state") ?? "visible") === "visible",
  );
  const sheetPath = paths.get(xml.attributeOf(sheet?.attributes ?? "", "id") ?? "") ?? "sheet";
  const items = await all(archive, paths.get("sharedStrings"), "si", textsMax);
  const texts = items.map(({ content }) => textIn(content));
  const styles = await readStyles(archive, paths.get("styles"));
  let line = 0;
  for await (const rows of xml.elementsOf("row", readPart(archive, sheetPath, sheetBytesMax))) {
    yield rows.values().map(({ attributes, content }) => {
      const number = Number(xml.attributeOf(attributes, "r") ?? line + 1);
      if (!(Number.isSafeInteger(number) && number > line)) throw notInOrder(line + 1);
      line = number;
      return { line, cells: cellsOf(line, content, { texts, styles }) };
    });
  }
}

async function all(archive: Buffer, path: string | undefined, name: string, max = elementsMax) {
  const elements: xml.Element[] = [];
  if (path === undefined) return elements;
  for await (const some of xml.elementsOf(name, readPart(archive, path, partBytesMax))) {
    for (const one of some) elements.push(one);
    if (elements.length > max) throw new BrokenText(1, `the workbook has a bad ${path}`);
  }
  return elements;
}

const textPattern = xml.elementPattern("t");

/** A text can have several parts with different fonts. Their phonetic readings are left out. */
function textIn(content: string): string {
  const shown = content.includes("<rPh") ? content.replace(/<rPh.*?(?:<\/rPh>|$)/gs, "") : content;
  const parts = xml.elementsIn(textPattern, shown).map((part) => xml.unescaped(part.content));
  // A character that XML cannot have is written as its number.
  return parts
    .join("")
    .replace(/_x([0-9A-F]{4})_/gi, (_, hex) => String.fromCharCode(Number(`0x${hex}`)));
}

/** What cells refer to. */
interface Book {
  readonly texts: readonly string[];
  /** Styles that show a number as a date, or else with at least so many digits. */
  readonly styles: ReadonlyMap<string, "date" | number>;
}

async function readStyles(archive: Buffer, path: string | undefined): Promise<Book["styles"]> {
  const dates = "14 15 16 17 18 19 20 21 22 45 46 47".split(" ");
  const formats = new Map<string, "date" | number>(dates.map((id) => [id, "date"]));
  for (const { attributes } of await all(archive, path, "numFmt")) {
    // Texts in quotes, and colours and conditions in brackets, are not letters of a date.
    const code = xml.attributeOf(attributes, "formatCode") ?? "";
    const letters = code.replace(/"[^"]*(?:"|$)|\[[^\]]*(?:\]|$)|\\./g, "");
    const id = xml.attributeOf(attributes, "numFmtId") ?? "";
    if (/[dmyhs]/i.test(letters)) formats.set(id, "date");
    // Barcodes are often numbers with this format. Their first digits can be zeros.
    else if (/^0{8,14}$/.test(code)) formats.set(id, code.length);
  }
  const [styles] = await all(archive, path, "cellXfs");
  const ids = xml
    .elementsIn(xml.elementPattern("xf"), styles?.content ?? "")
    .map(({ attributes }) => formats.get(xml.attributeOf(attributes, "numFmtId") ?? "") ?? 0);
  return new Map(ids.map((format, at) => [String(at), format]));
}

const cellPattern = xml.elementPattern("c");

function cellsOf(line: number, row: string, book: Book): readonly Cell[] {
  const cells: Cell[] = [];
  let column = -1;
  for (const cell of xml.elementsIn(cellPattern, row)) {
    const place = xml.attributeOf(cell.attributes, "r");
    const next = place === undefined ? column + 1 : columnOf(place);
    if (!(next > column)) throw notInOrder(line);
    column = next;
    const value = cellOf(cell, book);
    if (value === "") continue;
    if (column >= columnsMax) throw new BrokenText(line, tooManyColumns);
    while (cells.length < column) cells.push("");
    cells.push(value);
  }
  return cells;
}

function notInOrder(line: number): BrokenText {
  return new BrokenText(line, "the rows or cells of the sheet are not in order");
}

/** The column of a place such as `AB12`, from 0. */
function columnOf(place: string): number {
  const letters = [.../^[A-Z]{0,3}/.exec(place)![0]];
  return letters.reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

const valuePattern = xml.elementPattern("v");

/** The value of a cell as the text that a CSV file would have. Formulas have the last result. */
function cellOf({ attributes, content }: xml.Element, { texts, styles }: Book): Cell {
  const type = xml.attributeOf(attributes, "t") ?? "n";
  if (type === "inlineStr") return textIn(content);
  const value = xml.unescaped(xml.elementsIn(valuePattern, content)[0]?.content ?? "");
  if (value === "" && type !== "str" && /<(?:\w+:)?f[\s>/]/.test(content)) {
    return { value, rule: "is a formula without a result; save the file in a spreadsheet program" };
  }
  if (value === "") return "";
  switch (type) {
    case "s":
      return texts[Number(value)] ?? { value, rule: "is a text that the file does not have" };
    case "b":
      return value === "1" ? "true" : "false";
    case "e":
      return { value, rule: "is an error in the sheet" };
    case "n": {
      const style = styles.get(xml.attributeOf(attributes, "s") ?? "0") ?? 0;
      if (style !== "date") return numberCell(value, style);
      // Programs also make dates of numbers such as 3.5, of which only the date is left.
      return { value, rule: `is a date in the sheet; ${asText}, such as 2026-05-01` };
    }
    default:
      return value;
  }
}

const asText = "choose the type Text for this column, and write it again";

/**
 * A spreadsheet keeps 15 digits of a number. One of more digits may have been rounded, and nothing
 * shows it, so it is refused. Fractions have up to 17 digits in the file, of which the last are noise.
 */
function numberCell(value: string, digits: number): Cell {
  const number = Number(value);
  if (Math.abs(number) < 1e15) return String(number).padStart(digits, "0");
  const rule = `is a number of more than 15 digits, which a spreadsheet program has rounded; ${asText}`;
  return { value, rule };
}
