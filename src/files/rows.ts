import type { FoundFile } from "../domain/catalogue/import-preview.ts";
import { type Problems, shownValue } from "../domain/catalogue/import-problems.ts";
import type { RowKind } from "../domain/catalogue/imports.ts";
import { isJsonObject, parseJson } from "../domain/values/json.ts";
import { findDelimiterOf, splitCells } from "./csv.ts";
import {
  type Delimiter,
  delimiters,
  type Format,
  findDelimiter,
  type ImportFormat,
} from "./formats.ts";
import { assertFormat } from "./hints.ts";
import { createJsonArraySplitter } from "./json-array.ts";
import { BrokenText, createLineSplitter, type Splitter, type TakeText } from "./lines.ts";
import { createTableReader, type HeaderMap, type TableTarget } from "./table.ts";
import { type Bytes, decodeText } from "./text.ts";
import { readSheet } from "./xlsx.ts";

/** How to read a table. What is not given is found in the file. */
export interface Reading {
  readonly delimiter?: Delimiter | undefined;
  /** The name of the sheet of a workbook. */
  readonly sheet?: string | undefined;
  readonly map?: HeaderMap;
  /** Gets what is known about a table, as soon as it is known. */
  readonly found?: Partial<FoundFile>;
}

/**
 * Reads an import file. Yields the records that each piece of it completes. Adds a problem for every
 * row that cannot be read. Ends where the text cannot be split into rows any more.
 */
export async function* readRecords<T>(
  bytes: Bytes,
  format: ImportFormat,
  { columns, toRecord }: RowKind<T>,
  problems: Problems,
  reading: Reading = {},
): AsyncGenerator<readonly T[]> {
  let records: T[] = [];
  const target: Target = {
    ...{ columns, problems, found: {}, map: new Map(), ...reading },
    take(line, fields) {
      const record = toRecord(line, fields, problems);
      if (record !== undefined) records.push(record);
    },
  };
  try {
    const pieces = format === "xlsx" ? takeSheet(bytes, target) : takeText(bytes, format, target);
    for await (const _ of pieces) {
      yield records;
      records = [];
    }
  } catch (error) {
    if (!(error instanceof BrokenText)) throw error;
    const { line, rule, format: seeming } = error;
    problems.add({ line, rule, isLast: true, format: seeming });
  }
  yield records;
}

interface Target extends TableTarget, Pick<Reading, "delimiter" | "sheet"> {}

/** Passes the rows of a sheet on, and yields after each piece of it. */
async function* takeSheet(bytes: Bytes, target: Target) {
  const table = createTableReader(target);
  for await (const rows of readSheet(bytes, target.sheet, target.found)) {
    for (const { line, cells } of rows) table.take(line, cells);
    yield;
  }
  table.end();
}

/** Passes the rows of a text on, and yields after each piece of it. */
async function* takeText(bytes: Bytes, format: Format, target: Target) {
  const { columns, found } = target;
  const splitter = createSplitter(format, target);
  const foundEncoding = (encoding: string) => (found.encoding = encoding);
  const text = decodeText(bytes, format === "csv" ? foundEncoding : undefined);
  let hasOnlyReturns: boolean | undefined;
  for await (const piece of withWholeStart(text)) {
    if (hasOnlyReturns === undefined) {
      assertFormat(piece, format, Object.keys(columns));
      // Old programs of the Mac end lines with CR.
      hasOnlyReturns = format === "csv" && piece.includes("\r") && !piece.includes("\n");
    }
    splitter.take(hasOnlyReturns ? piece.replaceAll("\r", "\n") : piece);
    yield;
  }
  splitter.end();
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

/** Passes the rows of a text on. Adds a problem for every row that cannot be read. */
function createSplitter(format: Format, target: Target): Splitter {
  switch (format) {
    case "csv":
      return createCsvSplitter(target);
    case "ndjson":
      return createLineSplitter(objectReader(target), { quotes: false });
    case "json":
      return createJsonArraySplitter(objectReader(target));
  }
}

function objectReader({ problems, take }: Target): TakeText {
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

/** Spreadsheet programs take the delimiter from such a line. */
const delimiterLine = /^sep=(.)\r?$/;

/** The first row is the header. A line before it may name the delimiter. */
function createCsvSplitter(target: Target): Splitter {
  const { columns, delimiter, map, found, problems } = target;
  const table = createTableReader(target);
  const isKnown = (cell: string) => Object.hasOwn(columns, cell.trim()) || map.has(cell.trim());
  const lines = createLineSplitter(
    (line, text) => {
      if (found.delimiter === undefined) {
        const named = findDelimiter(delimiterLine.exec(text)?.[1] ?? "");
        found.delimiter = delimiter ?? named ?? findDelimiterOf(text, isKnown);
        if (named) return;
      }
      const cells = readCells(line, text, delimiters[found.delimiter], problems);
      if (cells) table.take(line, cells);
    },
    { quotes: true },
  );
  return {
    take: lines.take,
    end() {
      lines.end();
      table.end();
    },
  };
}

/** A wrong quote in one line is a problem of that line. Over several lines, it may join rows. */
function readCells(line: number, text: string, delimiter: string, problems: Problems) {
  try {
    return splitCells(line, text, delimiter);
  } catch (error) {
    if (!(error instanceof BrokenText) || text.includes("\n")) throw error;
    problems.add({ line, value: shownValue(text.trim()), rule: error.rule });
    return undefined;
  }
}
