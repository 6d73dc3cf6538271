import { BrokenText, columnsMax, recordCharactersMax, tooManyColumns } from "./lines.ts";
import type { Cell } from "./table.ts";
import { boundText, createTextReader, type FindText } from "./workbook-texts.ts";
import { attribute, type Tag, unescaped } from "./xml.ts";

/** A row, with the cells that have a value by their column, from 0. */
export interface SheetRow {
  readonly line: number;
  readonly cells: ReadonlyMap<number, Cell>;
}

/** How a number is shown: as a date, or else with at least so many digits. */
export type Style = "date" | number;

/** What cells refer to. */
export interface Book {
  readonly findText: FindText;
  readonly styles: readonly Style[];
}

/** Rows with a value. */
const rowsMax = 150_000;
/** Characters of the sheet as it is written, and of the texts to which its cells refer. */
const sheetCharactersMax = 64 * 1_048_576;
/** A batch of rows is full when it has so many. */
const batchCharacters = 1_048_576;

const placeOf = attribute("r");
const styleOf = attribute("s");
const kindOf = attribute("t");

/** Makes rows of the tags of a sheet. A row takes the memory of its values, wherever they are. */
export function createRowReader(book: Book) {
  const text = createTextReader();
  let rows: SheetRow[] = [];
  let rowCount = 0;
  const characters = { sheet: 0, batch: 0, row: 0 };
  let line = 0;
  let column = -1;
  let cells: Map<number, Cell> | undefined;
  let cell: ReadCell | undefined;

  function beginRow(tag: Tag): void {
    const number = Number(placeOf(tag) ?? line + 1);
    if (!(Number.isSafeInteger(number) && number > line)) throw notInOrder(line + 1);
    line = number;
    column = -1;
    cells = new Map();
    characters.row = 0;
  }

  function endRow(): void {
    if (cells && cells.size > 0) {
      rowCount += 1;
      if (rowCount > rowsMax) throw new BrokenText(line, `the sheet has more than ${rowsMax} rows`);
      rows.push({ line, cells });
    }
    cells = undefined;
  }

  function beginCell(tag: Tag): void {
    const place = placeOf(tag);
    const next = place === undefined ? column + 1 : columnOf(place);
    if (!(next > column)) throw notInOrder(line);
    column = next;
    cell = { kind: kindOf(tag) ?? "n", style: styleOf(tag), value: undefined, isFormula: false };
    text.end();
  }

  function takeInCell(tag: Tag, read: ReadCell): void {
    const { before } = tag;
    count(before.length, 0);
    if (tag.name === "f") read.isFormula = true;
    else if (tag.name !== "v") text.take(tag);
    else if (!tag.isStart) read.value ??= boundText(unescaped(before));
  }

  function endCell(read: ReadCell): void {
    cell = undefined;
    const found = cellOf(read, text.end(), book);
    if (found === "") return;
    if (column >= columnsMax) throw new BrokenText(line, tooManyColumns);
    cells!.set(column, found);
    if (read.kind === "s" && typeof found === "string") count(found.length, found.length);
  }

  /** The tags of a row count, too: each of its cells can keep a whole piece of the sheet in memory. */
  function count(more: number, inRow: number): void {
    characters.sheet += more;
    characters.batch += more;
    characters.row += inRow;
    if (characters.row > recordCharactersMax) throw tooLong("row", recordCharactersMax);
    if (characters.sheet > sheetCharactersMax) throw tooLong("sheet", sheetCharactersMax);
  }

  const tooLong = (what: string, max: number) =>
    new BrokenText(line, `the ${what} has more than ${max} characters`);

  return {
    /** Returns true if the rows should be taken now. */
    take(tag: Tag): boolean {
      const { name, isStart, isEnd } = tag;
      if (cells) count(0, tag.characters);
      if (name === "row") {
        if (isStart) beginRow(tag);
        if (isEnd) endRow();
      } else if (name === "c" && cells) {
        if (isStart) beginCell(tag);
        if (isEnd && cell) endCell(cell);
      } else if (cell) takeInCell(tag, cell);
      return characters.batch > batchCharacters;
    },
    /** The complete rows since the last call. */
    rows(): readonly SheetRow[] {
      const taken = rows;
      rows = [];
      characters.batch = 0;
      return taken;
    },
    isInRow: () => cells !== undefined,
  };
}

function notInOrder(line: number): BrokenText {
  return new BrokenText(line, "the rows or cells of the sheet are not in order");
}

/** The column of a place such as `AB12`, from 0. No sheet has one of more letters. */
function columnOf(place: string): number {
  let column = 0;
  for (let at = 0; at < 3; at++) {
    const letter = place.charCodeAt(at) - 64;
    if (!(letter >= 1 && letter <= 26)) break;
    column = column * 26 + letter;
  }
  return column - 1;
}

/** What the tags of a cell say. */
interface ReadCell {
  readonly kind: string;
  readonly style: string | undefined;
  value: string | undefined;
  isFormula: boolean;
}

/** The value of a cell as the text that a CSV file would have. Formulas have the last result. */
function cellOf(
  { kind, style: place = "0", value = "", isFormula }: ReadCell,
  text: string,
  { findText, styles }: Book,
): Cell {
  if (kind === "inlineStr") return text;
  if (value === "" && kind !== "str" && isFormula) {
    return { value, rule: "is a formula without a result; save the file in a spreadsheet program" };
  }
  if (value === "") return "";
  switch (kind) {
    case "s":
      return findText(Number(value)) ?? { value, rule: "is a text that the file does not have" };
    case "b":
      return value === "1" ? "true" : "false";
    case "e":
      return { value, rule: "is an error in the sheet" };
    case "n": {
      const style = styles[Number(place)] ?? 0;
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
 * A spreadsheet keeps 15 digits of a number. A longer number may have been rounded without a trace, so it is
 * refused. Fractions have up to 17 digits in the file, and the last ones are noise.
 */
function numberCell(value: string, digits: number): Cell {
  const number = Number(value);
  if (Math.abs(number) < 1e15) return String(number).padStart(digits, "0");
  const rule = `is a number of more than 15 digits, which a spreadsheet program has rounded; ${asText}`;
  return { value, rule };
}
