import { type Problems, shownValue } from "../domain/catalogue/import-problems.ts";
import type { CellKind, Fields, RowKind } from "../domain/catalogue/imports.ts";
import { isJsonObject, JsonNumber, parseJson } from "../domain/values/json.ts";
import { findNearest } from "../domain/values/nearest.ts";
import { original } from "../domain/values/spreadsheet-text.ts";
import { readCsvId, splitCells } from "./csv.ts";
import type { Format } from "./formats.ts";
import { assertFormat } from "./hints.ts";
import { createJsonArraySplitter } from "./json-array.ts";
import { BrokenText, createLineSplitter, type Splitter, type TakeText } from "./lines.ts";
import { type Bytes, decodeText } from "./text.ts";

/**
 * Reads an import file. Yields the records that each piece of it completes. Adds a problem for every
 * row that cannot be read. Ends where the text cannot be split into rows any more.
 */
export async function* readRecords<T>(
  bytes: Bytes,
  format: Format,
  { columns, toRecord }: RowKind<T>,
  problems: Problems,
): AsyncGenerator<readonly T[]> {
  let records: T[] = [];
  const splitter = createSplitter(format, columns, problems, (line, fields) => {
    const record = toRecord(line, fields, problems);
    if (record !== undefined) records.push(record);
  });
  let isChecked = false;
  try {
    for await (const piece of withWholeStart(decodeText(bytes))) {
      if (!isChecked) assertFormat(piece, format, Object.keys(columns));
      isChecked = true;
      splitter.take(piece);
      yield records;
      records = [];
    }
    splitter.end();
  } catch (error) {
    if (!(error instanceof BrokenText)) throw error;
    const { line, rule, format: seeming } = error;
    problems.add({ line, rule, isLast: true, format: seeming });
  }
  yield records;
}

/** Enough of a file to tell its format. */
const startLinesMin = 2;
const startCharactersMin = 4_096;

/** The same text, but the first piece has at least two lines, if there are two. */
async function* withWholeStart(text: AsyncIterable<string>): AsyncGenerator<string> {
  let start: string | undefined = "";
  for await (const piece of text) {
    if (start === undefined) {
      yield piece;
      continue;
    }
    start += piece;
    const lines = start.trimStart().split("\n", startLinesMin + 1).length - 1;
    if (lines < startLinesMin && start.length < startCharactersMin) continue;
    yield start;
    start = undefined;
  }
  if (start !== undefined) yield start;
}

type Columns = RowKind<never>["columns"];
type TakeRow = (line: number, fields: Fields) => void;

/** Passes the rows of a text on. Adds a problem for every row that cannot be read. */
function createSplitter(
  format: Format,
  columns: Columns,
  problems: Problems,
  take: TakeRow,
): Splitter {
  switch (format) {
    case "csv":
      return createLineSplitter(csvReader(columns, problems, take), { quotes: true });
    case "ndjson":
      return createLineSplitter(objectReader(problems, take), { quotes: false });
    case "json":
      return createJsonArraySplitter(objectReader(problems, take));
  }
}

function objectReader(problems: Problems, take: TakeRow): TakeText {
  return (line, text) => {
    let fields: unknown;
    let rule = "is not a JSON object";
    try {
      fields = parseJson(text);
    } catch {
      rule = "is not valid JSON";
    }
    if (isJsonObject(fields)) take(line, fields);
    else problems.add({ line, value: shownValue(text.trim()), rule });
  };
}

/** The first row is the header. */
function csvReader(columns: Columns, problems: Problems, take: TakeRow): TakeText {
  let header: readonly string[] | undefined;
  let readers: readonly ((cell: string) => unknown)[] = [];
  return (line, text) => {
    const cells = readCells(line, text, problems);
    if (!cells) return;
    if (!header) {
      header = readHeader(line, cells, Object.keys(columns));
      readers = header.map((column) => cellValues[columns[column]!]);
      return;
    }
    if (cells.length !== header.length) {
      const noun = cells.length === 1 ? "cell" : "cells";
      const rule = `has ${cells.length} ${noun}, but the header has ${header.length}`;
      problems.add({ line, value: shownValue(text.trim()), rule });
      return;
    }
    const fields: Record<string, unknown> = {};
    for (let at = 0; at < cells.length; at++) {
      // An empty cell leaves the field as it is.
      if (cells[at] !== "") fields[header[at]!] = readers[at]!(cells[at]!);
    }
    take(line, fields);
  };
}

/** A wrong quote in one line is a problem of that line. Over several lines, it may join rows. */
function readCells(line: number, text: string, problems: Problems): readonly string[] | undefined {
  try {
    return splitCells(line, text);
  } catch (error) {
    if (!(error instanceof BrokenText) || text.includes("\n")) throw error;
    problems.add({ line, value: shownValue(text.trim()), rule: error.rule });
    return undefined;
  }
}

function readHeader(line: number, cells: readonly string[], columns: readonly string[]) {
  const header = cells.map((cell) => cell.trim());
  for (const [at, column] of header.entries()) {
    if (!columns.includes(column)) throw new BrokenText(line, unknownColumn(column, columns));
    if (header.indexOf(column) !== at) {
      throw new BrokenText(line, `duplicate column '${shownValue(column)}'`);
    }
  }
  return header;
}

function unknownColumn(column: string, columns: readonly string[]): string {
  const nearest = findNearest(column, columns);
  const advice = nearest ? `did you mean ${nearest}?` : `expected ${columns.join(", ")}`;
  return `unknown column '${shownValue(column)}'; ${advice}`;
}

/** Converts a cell to a JSON value, so that the same rules apply to every format. */
const cellValues: Readonly<Record<CellKind, (cell: string) => unknown>> = {
  id: (cell) => numberOf(readCsvId(cell.trim())),
  integer: (cell) => numberOf(cell.trim()),
  flag: (cell) => (cell === "true" ? true : cell === "false" ? false : cell),
  text: original,
  texts: listOf,
};

function numberOf(text: string): JsonNumber | string {
  const first = text.charCodeAt(text.startsWith("-") ? 1 : 0);
  return first >= 48 && first <= 57 ? new JsonNumber(text) : text;
}

/** Reads `a|b|c`, or a JSON array for items that contain a bar. */
function listOf(cell: string): unknown {
  if (!cell.startsWith("[")) return cell.split("|");
  try {
    return parseJson(cell);
  } catch {
    return cell;
  }
}
