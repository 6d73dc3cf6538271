import { Refusal } from "../domain/errors.ts";
import type { Fields } from "../domain/imports.ts";
import { isJsonObject, JsonNumber, parseJson } from "../domain/values/json.ts";
import { splitCells } from "./csv.ts";
import type { Format } from "./files.ts";
import { createElementSplitter } from "./json-array.ts";
import { createLineSplitter, type Source, type Splitter } from "./lines.ts";

export interface Row {
  readonly line: number;
  readonly fields: Fields;
}

/** The rows of an import file in any of its formats, as many at a time as a piece of it holds. */
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
  /** The row a record holds; none where it is a header. */
  readonly read: (source: Source) => Row | [];
}

function createReader(format: Format, columns: readonly string[]): RowReader {
  switch (format) {
    case "csv":
      return { split: createLineSplitter({ quotes: true }), read: csvReader(columns) };
    case "ndjson":
      return { split: createLineSplitter({ quotes: false }), read: parseObject };
    case "json":
      return { split: createElementSplitter(), read: parseObject };
  }
}

function parseObject({ line, text }: Source): Row {
  let fields: unknown;
  try {
    fields = parseJson(text);
  } catch {
    throw new Refusal("invalid_request", `line ${line}: this is not valid JSON`);
  }
  if (!isJsonObject(fields)) {
    throw new Refusal("invalid_request", `line ${line}: this is not a JSON object`);
  }
  return { line, fields };
}

/** The first row names the columns of all others. */
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
      const counts = `${cells.length} cells, the header has ${header.length}`;
      throw new Refusal("invalid_request", `line ${line}: this row has ${counts}`);
    }
    const fields: Record<string, unknown> = {};
    for (const [at, column] of header.entries()) {
      // An empty cell says nothing; whatever the pet has stays.
      if (cells[at] !== "") fields[column] = cellValue(column, cells[at]!);
    }
    return { line, fields };
  };
}

function readHeader(line: number, cells: readonly string[], columns: readonly string[]) {
  const header = cells.map((cell) => cell.trim());
  for (const [at, column] of header.entries()) {
    if (!columns.includes(column)) {
      const rule = `is not one of ${columns.join(", ")}`;
      throw new Refusal("invalid_request", `line ${line}: column '${column}' ${rule}`);
    }
    if (header.indexOf(column) !== at) {
      throw new Refusal("invalid_request", `line ${line}: column '${column}' stands twice`);
    }
  }
  return header;
}

const numeric = new Set(["petId", "id", "quantity"]);
const lists = new Set(["tags", "photoUrls"]);

/** A cell as the JSON value it stands for, so that one set of rules judges every format. */
function cellValue(column: string, cell: string): unknown {
  if (numeric.has(column)) {
    const trimmed = cell.trim();
    return /^-?[0-9]/.test(trimmed) ? new JsonNumber(trimmed) : cell;
  }
  if (lists.has(column)) return listOf(cell);
  if (column === "complete") return cell === "true" ? true : cell === "false" ? false : cell;
  return cell;
}

/** `a|b|c`, or a JSON array for items that hold a bar themselves. */
function listOf(cell: string): unknown {
  if (!cell.startsWith("[")) return cell.split("|");
  try {
    return parseJson(cell);
  } catch {
    return cell;
  }
}
