import { type Problems, shownValue } from "../domain/catalogue/import-problems.ts";
import type { Fields } from "../domain/catalogue/imports.ts";
import { isJsonObject, JsonNumber, parseJson } from "../domain/values/json.ts";
import { findNearest } from "../domain/values/nearest.ts";
import { readCsvId, splitCells } from "./csv.ts";
import type { Format } from "./formats.ts";
import { assertFormat } from "./hints.ts";
import { createJsonArraySplitter } from "./json-array.ts";
import { BrokenText, createLineSplitter, type Source, type Splitter } from "./lines.ts";

export interface Row {
  readonly line: number;
  readonly fields: Fields;
}

/**
 * Reads the rows of an import file. Yields the rows that each piece of the text completes. Adds a
 * problem for every row that cannot be read. Ends where the text cannot be split into rows any more.
 */
export async function* readRows(
  text: AsyncIterable<string>,
  format: Format,
  columns: readonly string[],
  problems: Problems,
): AsyncGenerator<readonly Row[]> {
  const { split, read } = createReader(format, columns, problems);
  let isChecked = false;
  try {
    for await (const piece of withWholeStart(text)) {
      if (!isChecked) assertFormat(piece, format, columns);
      isChecked = true;
      const { rows, broken } = readPiece(() => split.take(piece), read);
      yield rows;
      if (broken) throw broken;
    }
    const { rows, broken } = readPiece(split.end, read);
    yield rows;
    if (broken) throw broken;
  } catch (error) {
    if (!(error instanceof BrokenText)) throw error;
    const { line, rule, format: seeming } = error;
    problems.add({ line, rule, isLast: true, format: seeming });
  }
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

type Read = (source: Source) => Row | [];

/** Reads the records of one piece, up to the first place where it cannot be split into records. */
function readPiece(
  take: () => readonly Source[],
  read: Read,
): { rows: readonly Row[]; broken?: BrokenText } {
  const rows: Row[] = [];
  const readEach = (sources: readonly Source[]) => {
    for (const source of sources) {
      const row = read(source);
      if (!Array.isArray(row)) rows.push(row);
    }
  };
  try {
    readEach(take());
    return { rows };
  } catch (error) {
    if (!(error instanceof BrokenText)) throw error;
    readEach(error.found);
    return { rows, broken: error };
  }
}

interface RowReader {
  readonly split: Splitter;
  /** Returns the row of a record, or an empty list for a header or a row that cannot be read. */
  readonly read: Read;
}

function createReader(format: Format, columns: readonly string[], problems: Problems): RowReader {
  switch (format) {
    case "csv":
      return { split: createLineSplitter({ quotes: true }), read: csvReader(columns, problems) };
    case "ndjson":
      return { split: createLineSplitter({ quotes: false }), read: objectReader(problems) };
    case "json":
      return { split: createJsonArraySplitter(), read: objectReader(problems) };
  }
}

function objectReader(problems: Problems): Read {
  return ({ line, text }) => {
    const fail = (rule: string): [] => {
      problems.add({ line, value: shownValue(text.trim()), rule });
      return [];
    };
    try {
      const fields = parseJson(text);
      return isJsonObject(fields) ? { line, fields } : fail("is not a JSON object");
    } catch {
      return fail("is not valid JSON");
    }
  };
}

/** The first row is the header. */
function csvReader(columns: readonly string[], problems: Problems): Read {
  let header: readonly string[] | undefined;
  return (source) => {
    const { line } = source;
    const cells = readCells(source, problems);
    if (!cells) return [];
    if (!header) {
      header = readHeader(line, cells, columns);
      return [];
    }
    if (cells.length !== header.length) {
      const noun = cells.length === 1 ? "cell" : "cells";
      const rule = `has ${cells.length} ${noun}, but the header has ${header.length}`;
      problems.add({ line, value: shownValue(source.text.trim()), rule });
      return [];
    }
    const fields: Record<string, unknown> = {};
    for (const [at, column] of header.entries()) {
      // An empty cell leaves the field as it is.
      if (cells[at] !== "") fields[column] = cellValue(column, cells[at]!);
    }
    return { line, fields };
  };
}

/** A wrong quote in one line is a problem of that line. Over several lines, it may join rows. */
function readCells(source: Source, problems: Problems): readonly string[] | undefined {
  try {
    return splitCells(source);
  } catch (error) {
    if (!(error instanceof BrokenText) || source.text.includes("\n")) throw error;
    problems.add({ line: error.line, value: shownValue(source.text.trim()), rule: error.rule });
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

const ids = new Set(["petId", "id"]);
const lists = new Set(["tags", "photoUrls"]);

/** Converts a cell to a JSON value, so that the same rules apply to every format. */
function cellValue(column: string, cell: string): unknown {
  if (ids.has(column)) return numberOf(readCsvId(cell.trim()));
  if (column === "quantity") return numberOf(cell.trim());
  if (lists.has(column)) return listOf(cell);
  if (column === "complete") return cell === "true" ? true : cell === "false" ? false : cell;
  return cell;
}

function numberOf(text: string): JsonNumber | string {
  return /^-?[0-9]/.test(text) ? new JsonNumber(text) : text;
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
