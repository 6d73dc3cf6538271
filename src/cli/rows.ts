import { ServiceError } from "../domain/errors.ts";
import type { Fields } from "../domain/imports.ts";
import { isJsonObject, JsonNumber, parseJson } from "../domain/values/json.ts";
import { splitCells } from "./csv.ts";
import type { Format } from "./files.ts";
import { createJsonArraySplitter } from "./json-array.ts";
import { createLineSplitter, type Source, type Splitter } from "./lines.ts";

export interface Row {
  readonly line: number;
  readonly fields: Fields;
}

/** Reads the rows of an import file. Yields the rows that each piece of the text completes. */
export async function* readRows(
  text: AsyncIterable<string>,
  format: Format,
  columns: readonly string[],
): AsyncGenerator<readonly Row[]> {
  const { split, read } = createReader(format, columns);
  for await (const piece of text) yield split.take(piece).flatMap(read);
  yield split.end().flatMap(read);
}

interface RowReader {
  readonly split: Splitter;
  /** Returns the row of a record, or an empty list for a header. */
  readonly read: (source: Source) => Row | [];
}

function createReader(format: Format, columns: readonly string[]): RowReader {
  switch (format) {
    case "csv":
      return { split: createLineSplitter({ quotes: true }), read: csvReader(columns) };
    case "ndjson":
      return { split: createLineSplitter({ quotes: false }), read: parseObject };
    case "json":
      return { split: createJsonArraySplitter(), read: parseObject };
  }
}

function parseObject({ line, text }: Source): Row {
  let fields: unknown;
  try {
    fields = parseJson(text);
  } catch {
    throw new ServiceError("invalid_request", `line ${line}: invalid JSON`);
  }
  if (!isJsonObject(fields)) {
    throw new ServiceError("invalid_request", `line ${line}: expected a JSON object`);
  }
  return { line, fields };
}

/** The first row is the header. */
function csvReader(columns: readonly string[]): RowReader["read"] {
  let header: readonly string[] | undefined;
  return (source) => {
    const { line } = source;
    const cells = splitCells(source);
    if (!header) {
      header = readHeader(line, cells, columns);
      return [];
    }
    if (cells.length !== header.length) {
      const counts = `expected ${header.length} cells, found ${cells.length}`;
      throw new ServiceError("invalid_request", `line ${line}: ${counts}`);
    }
    const fields: Record<string, unknown> = {};
    for (const [at, column] of header.entries()) {
      // An empty cell leaves the field as it is.
      if (cells[at] !== "") fields[column] = cellValue(column, cells[at]!);
    }
    return { line, fields };
  };
}

function readHeader(line: number, cells: readonly string[], columns: readonly string[]) {
  const header = cells.map((cell) => cell.trim());
  for (const [at, column] of header.entries()) {
    if (!columns.includes(column)) {
      const problem = `unknown column '${column}'; expected ${columns.join(", ")}`;
      throw new ServiceError("invalid_request", `line ${line}: ${problem}`);
    }
    if (header.indexOf(column) !== at) {
      throw new ServiceError("invalid_request", `line ${line}: duplicate column '${column}'`);
    }
  }
  return header;
}

const numeric = new Set(["petId", "id", "quantity"]);
const lists = new Set(["tags", "photoUrls"]);

/** Converts a cell to a JSON value, so that the same rules apply to every format. */
function cellValue(column: string, cell: string): unknown {
  if (numeric.has(column)) {
    const trimmed = cell.trim();
    return /^-?[0-9]/.test(trimmed) ? new JsonNumber(trimmed) : cell;
  }
  if (lists.has(column)) return listOf(cell);
  if (column === "complete") return cell === "true" ? true : cell === "false" ? false : cell;
  return cell;
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
