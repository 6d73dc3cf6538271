import { isJsonObject, parseJson } from "../domain/values/json.ts";
import type { Format } from "./formats.ts";
import { BrokenText } from "./lines.ts";

/**
 * Throws if a text is clearly not in the format that it is read as, with what to do about it. The
 * text is the beginning of a file.
 */
export function assertFormat(text: string, format: Format, columns: readonly string[]): void {
  const start = text.trimStart();
  const hint = hints[format](start, columns);
  if (!hint) return;
  const line = text.slice(0, text.length - start.length).split("\n").length;
  throw new BrokenText(line, ...hint);
}

/** What is wrong, and the format that the text has instead, if it has another one. */
type Hint = readonly [rule: string, format?: Format] | undefined;

const hints: Record<Format, (start: string, columns: readonly string[]) => Hint> = {
  csv(start, columns) {
    const header = `a header such as ${columns.slice(0, 2).join()}`;
    if (start === "") return [`the file is empty; its first line must be ${header}`];
    if (start.startsWith("[")) return ["the file is a JSON array, not CSV", "json"];
    if (start.startsWith("{")) return ["the file has JSON objects, not CSV", "ndjson"];
    const line = firstLine(start);
    const isData = /^"?-?[0-9]+"?\s*(?:[,;\t|]|$)/.test(line);
    return isData ? [`there is no header; the first line must be ${header}`] : undefined;
  },
  ndjson(start, columns) {
    if (start.startsWith("[")) return ["the file is a JSON array, not NDJSON", "json"];
    const line = firstLine(start);
    if (/^\{\s*\n/.test(start))
      return ["an object takes several lines; write each object on one line"];
    return isCsvHeader(line, columns) ? ["the file is CSV, not NDJSON", "csv"] : undefined;
  },
  json(start, columns) {
    if (start === "") return ["the file is empty; it must have a JSON array, at least []"];
    if (isCsvHeader(firstLine(start), columns)) return ["the file is CSV, not a JSON array", "csv"];
    if (!start.startsWith("{")) return undefined;
    const [line, next = ""] = start.split("\n", 2);
    return isObject(line!) && next.startsWith("{")
      ? ["the file has one object per line, not a JSON array", "ndjson"]
      : ["the file has an object, not a JSON array; put the objects between [ and ]"];
  },
};

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!.trim();
}

function isCsvHeader(line: string, columns: readonly string[]): boolean {
  const cells = line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
  return cells.every((cell) => columns.includes(cell));
}

function isObject(text: string): boolean {
  try {
    return isJsonObject(parseJson(text));
  } catch {
    return false;
  }
}
