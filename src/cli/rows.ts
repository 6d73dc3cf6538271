import { Refusal } from "../domain/errors.ts";
import { isJsonObject, JsonNumber, parseJson } from "../domain/json.ts";
import type { Fields } from "../domain/records.ts";
import { readCsv } from "./csv.ts";
import { readJsonElements } from "./elements.ts";
import type { Format } from "./files.ts";

export interface Row {
  readonly line: number;
  readonly fields: Fields;
}

/** The rows of an import file in any of its formats, with the line each one starts on. */
export async function* readRows(
  text: AsyncIterable<string>,
  format: Format,
  columns: readonly string[],
): AsyncGenerator<Row> {
  if (format === "csv") {
    yield* csvRows(text, columns);
    return;
  }
  const elements = readJsonElements(text, format === "json" ? "array" : "lines");
  for await (const { line, source } of elements) {
    yield { line, fields: parseObject(line, source) };
  }
}

function parseObject(line: number, source: string): Fields {
  let value: unknown;
  try {
    value = parseJson(source);
  } catch {
    throw new Refusal("invalid_request", `line ${line}: this is not valid JSON`);
  }
  if (!isJsonObject(value)) {
    throw new Refusal("invalid_request", `line ${line}: this is not a JSON object`);
  }
  return value;
}

async function* csvRows(
  text: AsyncIterable<string>,
  columns: readonly string[],
): AsyncGenerator<Row> {
  let header: readonly string[] | undefined;
  for await (const { line, cells } of readCsv(text)) {
    if (!header) {
      header = readHeader(line, cells, columns);
      continue;
    }
    if (cells.length !== header.length) {
      const counts = `${cells.length} cells, the header has ${header.length}`;
      throw new Refusal("invalid_request", `line ${line}: this row has ${counts}`);
    }
    const fields: Record<string, unknown> = {};
    header.forEach((column, at) => {
      // An empty cell says nothing; whatever the pet has stays.
      if (cells[at] !== "") fields[column] = cellValue(column, cells[at]!);
    });
    yield { line, fields };
  }
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
