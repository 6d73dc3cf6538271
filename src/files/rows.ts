import type { FoundColumn } from "../domain/catalogue/import-preview.ts";
import { type Problems, problemsMax, shownValue } from "../domain/catalogue/import-problems.ts";
import type { RowKind } from "../domain/catalogue/imports.ts";
import { hasTooManyValues, isJsonObject, parseJson, valuesMax } from "../domain/values/json.ts";
import { delimiterOf, splitCells } from "./csv.ts";
import { type Delimiter, delimiters, type Format, type ImportFormat } from "./formats.ts";
import { assertFormat } from "./hints.ts";
import { createJsonArraySplitter } from "./json-array.ts";
import { BrokenText, createLineSplitter, type Splitter, type TakeText } from "./lines.ts";
import { freeing } from "./memory.ts";
import { createTableReader, type HeaderMap, type TableTarget } from "./table.ts";
import { type Bytes, decodeText } from "./text.ts";
import { readSheet } from "./xlsx.ts";

/** How to read a table. */
export interface Reading {
  /** By default, found in the header. */
  readonly delimiter?: Delimiter | undefined;
  readonly map?: HeaderMap;
  /** Gets the columns of the file. */
  readonly found?: FoundColumn[];
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
    ...{ columns, problems, found: [], map: new Map(), ...reading },
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
      if (problems.count() >= problemsMax) return;
    }
  } catch (error) {
    if (!(error instanceof BrokenText)) throw error;
    const { line, rule, format: seeming } = error;
    problems.add({ line, rule, isLast: true, format: seeming });
  }
  yield records;
}

interface Target extends TableTarget, Pick<Reading, "delimiter"> {}

/** Passes the rows of a sheet on, and yields after each piece of it. */
async function* takeSheet(bytes: Bytes, target: Target) {
  const takeRow = createTableReader(target);
  for await (const rows of readSheet(bytes)) {
    for (const { line, cells } of rows) takeRow(line, cells);
    yield;
  }
  if (target.found.length === 0) throw new BrokenText(1, "the sheet is empty");
}

/** Passes the rows of a text on, and yields after each piece of it. */
async function* takeText(bytes: Bytes, format: Format, target: Target) {
  const splitter = createSplitter(format, target);
  let isChecked = false;
  for await (const piece of withWholeStart(decodeText(freeing(bytes), format === "csv"))) {
    if (!isChecked) assertFormat(piece, format, Object.keys(target.columns));
    isChecked = true;
    splitter.take(piece);
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
      return createLineSplitter(csvReader(target), { quotes: true });
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
      if (hasTooManyValues(text)) rule = `has more than ${valuesMax} values`;
      else fields = parseJson(text);
    } catch {
      rule = "is not valid JSON";
    }
    if (isJsonObject(fields)) take(line, fields);
    else problems.add({ line, value: shownValue(text.trim()), rule });
  };
}

function csvReader(target: Target): TakeText {
  const takeRow = createTableReader(target);
  let delimiter: string | undefined = target.delimiter && delimiters[target.delimiter];
  let isHeader = true;
  return (line, text) => {
    delimiter ??= delimiterOf(text);
    const cells = readCells(line, text, delimiter, isHeader, target.problems);
    isHeader = false;
    if (cells) takeRow(line, cells, delimiter);
  };
}

/** A wrong quote in one line is a problem of that line. Over several lines, it may join rows. */
function readCells(
  line: number,
  text: string,
  delimiter: string,
  isHeader: boolean,
  problems: Problems,
) {
  try {
    return splitCells(line, text, delimiter);
  } catch (error) {
    if (!(error instanceof BrokenText) || text.includes("\n") || isHeader) throw error;
    problems.add({ line, value: shownValue(text.trim()), rule: error.rule });
    return undefined;
  }
}
