import type { FoundFile } from "../domain/catalogue/import-preview.ts";
import { BrokenText } from "./lines.ts";
import type { Cell } from "./table.ts";
import type { Bytes } from "./text.ts";
import { attributeOf, createXmlScanner, type XmlParts } from "./xml.ts";
import { type Archive, openArchive } from "./zip.ts";

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
  const archive = await openArchive(bytes);
  const { sheets, texts, styles, isFrom1904 } = await readWorkbook(archive);
  found.sheets = sheets.map(({ name }) => name);
  const sheet = chosen === undefined ? sheets[0] : sheets.find(({ name }) => name === chosen);
  if (!sheet) {
    const list = found.sheets.map((name) => `'${name}'`).join(", ");
    throw new BrokenText(1, `there is no sheet '${chosen ?? ""}'; the sheets are ${list}`);
  }
  found.sheet = sheet.name;
  const context = {
    texts: await readTexts(archive, texts),
    dateStyles: await readDateStyles(archive, styles),
    firstDay: isFrom1904 ? 24_107 : 25_569,
  };
  let rows: SheetRow[] = [];
  const parts = sheetParts(context, (row) => rows.push(row));
  for await (const _ of scan(archive, sheet.path, parts, sheetBytesMax)) {
    yield rows;
    rows = [];
  }
  yield rows;
}

/** Yields after each piece, so that the caller can take what it brought. */
async function* scan(archive: Archive, path: string, parts: XmlParts, bytesMax = partBytesMax) {
  const decoder = new TextDecoder();
  const scanner = createXmlScanner(parts);
  for await (const chunk of archive.read(path, bytesMax)) {
    scanner.take(decoder.decode(chunk, { stream: true }));
    yield;
  }
  scanner.end();
}

async function readPart(archive: Archive, path: string, parts: Partial<XmlParts>): Promise<void> {
  const all = { open() {}, text() {}, close() {}, ...parts };
  for await (const _ of scan(archive, path, all));
}

const workbookPath = "xl/workbook.xml";

/** The visible sheets, and the parts that they refer to. */
async function readWorkbook(archive: Archive) {
  const targets = new Map<string, { type: string; path: string }>();
  const pathOf = (end: string) => targets.values().find(({ type }) => type === end)?.path;
  await readPart(archive, "xl/_rels/workbook.xml.rels", {
    open(name, attributes) {
      if (name !== "Relationship") return;
      const [id = "", type = "", target = ""] = ["Id", "Type", "Target"].map((one) =>
        attributeOf(attributes, one),
      );
      const path = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
      targets.set(id, { type: type.split("/").at(-1)!, path });
    },
  });
  const sheets: { name: string; path: string }[] = [];
  let isFrom1904 = false;
  await readPart(archive, workbookPath, {
    open(name, attributes) {
      if (name === "workbookPr") {
        isFrom1904 = ["1", "true"].includes(attributeOf(attributes, "date1904") ?? "");
      }
      const target = targets.get(attributeOf(attributes, "id") ?? "");
      const isHidden = (attributeOf(attributes, "state") ?? "visible") !== "visible";
      if (name !== "sheet" || target?.type !== "worksheet" || isHidden) return;
      sheets.push({ name: attributeOf(attributes, "name") ?? "", path: target.path });
    },
  });
  return { sheets, texts: pathOf("sharedStrings"), styles: pathOf("styles"), isFrom1904 };
}

/** Collects the text between `<t>` and `</t>`, or `<v>`. Phonetic readings of a text are left out. */
function textCollector() {
  let text = "";
  let isInside = false;
  let isPhonetic = false;
  return {
    open(name: string) {
      if (name === "rPh") isPhonetic = true;
      else if (name === "t" || name === "v") isInside = !isPhonetic;
    },
    text(piece: string) {
      if (isInside) text += piece;
    },
    close(name: string) {
      if (name === "rPh") isPhonetic = false;
      else if (name === "t" || name === "v") isInside = false;
    },
    /** The text since the last call. A character that XML cannot have is written as `_x000D_`. */
    take(): string {
      const taken = text;
      text = "";
      if (!taken.includes("_x")) return taken;
      return taken.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
    },
  };
}

/** The texts that cells refer to by number. */
async function readTexts(archive: Archive, path: string | undefined): Promise<readonly string[]> {
  const texts: string[] = [];
  if (path === undefined || !archive.has(path)) return texts;
  const collector = textCollector();
  await readPart(archive, path, {
    ...collector,
    close(name) {
      collector.close(name);
      if (name !== "si") return;
      texts.push(collector.take());
      if (texts.length > textsMax) throw new BrokenText(1, "the workbook has too many texts");
    },
  });
  return texts;
}

/** The numbers of the styles that show a number as a date. */
async function readDateStyles(archive: Archive, path: string | undefined) {
  const dateStyles = new Set<number>();
  if (path === undefined || !archive.has(path)) return dateStyles;
  const dateFormats = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]);
  let isCellStyle = false;
  let style = 0;
  await readPart(archive, path, {
    open(name, attributes) {
      const format = Number(attributeOf(attributes, "numFmtId") ?? 0);
      if (name === "numFmt") {
        // Texts in quotes, and colours and conditions in brackets, are not letters of a date.
        const code = (attributeOf(attributes, "formatCode") ?? "").replace(
          /"[^"]*"|\[[^\]]*\]|\\./g,
          "",
        );
        if (/[dmyhs]/i.test(code)) dateFormats.add(format);
      } else if (name === "cellXfs") isCellStyle = true;
      else if (name === "xf" && isCellStyle) {
        if (dateFormats.has(format)) dateStyles.add(style);
        style += 1;
      }
    },
    close(name) {
      if (name === "cellXfs") isCellStyle = false;
    },
  });
  return dateStyles;
}

interface Context {
  readonly texts: readonly string[];
  readonly dateStyles: ReadonlySet<number>;
  /** The number of 1 January 1970 as a date. */
  readonly firstDay: number;
}

function sheetParts(context: Context, take: (row: SheetRow) => void): XmlParts {
  const collector = textCollector();
  let line = 0;
  let cells: Cell[] = [];
  let column = -1;
  let cell = "";
  return {
    open(name, attributes) {
      collector.open(name);
      if (name === "row") {
        const given = Number(attributeOf(attributes, "r") ?? line + 1);
        if (!(given > line && given <= rowsMax)) throw badPlace(line + 1);
        line = given;
        cells = [];
        column = -1;
      } else if (name === "c") {
        const place = attributeOf(attributes, "r");
        const given = place === undefined ? column + 1 : columnOf(place);
        if (!(given > column && given < columnsMax)) throw badPlace(line);
        column = given;
        cell = attributes;
        collector.take();
      }
    },
    text: collector.text,
    close(name) {
      collector.close(name);
      if (name === "c") {
        while (cells.length < column) cells.push("");
        cells[column] = cellOf(cell, collector.take(), context);
      } else if (name === "row") {
        take({ line, cells });
      }
    },
  };
}

function badPlace(line: number): BrokenText {
  return new BrokenText(Math.max(line, 1), "the rows or cells of the sheet are not in order");
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
function cellOf(attributes: string, value: string, { texts, dateStyles, firstDay }: Context): Cell {
  switch (attributeOf(attributes, "t") ?? "n") {
    case "s":
      return (
        texts[Number(value)] ?? { value, rule: "refers to a text that the file does not have" }
      );
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

const secondsPerDay = 86_400;

/**
 * A spreadsheet keeps 15 digits of a number. One of more digits may have been rounded, and nothing
 * shows it, so it is refused. Fractions have up to 17 digits in the file, of which the last are noise.
 */
function numberCell(value: string, isDate: boolean, firstDay: number): Cell {
  const number = Number(value);
  if (!Number.isFinite(number)) return { value, rule: "is not a number" };
  if (isDate) {
    const seconds = Math.round((number - firstDay) * secondsPerDay);
    const date = new Date(seconds * 1_000);
    if (Number.isNaN(date.getTime())) return { value, rule: "is not a date" };
    const text = date.toISOString();
    return seconds % secondsPerDay === 0 ? text.slice(0, 10) : text.replace(".000", "");
  }
  if (Math.abs(number) < 1e15) return String(number);
  const rule = `is a number of more than 15 digits, which a spreadsheet program has rounded; take it from the original, and choose the type Text for this column`;
  return { value, rule };
}
