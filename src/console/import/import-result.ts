import { ApiError } from "../client/api.ts";
import { parseExactly } from "../client/exact-json.ts";
import type { Import } from "../client/types.ts";

export type ImportKind = "pets" | "orders";
export type Format = "csv" | "json" | "ndjson";
export const formatNames: Readonly<Record<Format, string>> = {
  csv: "CSV",
  json: "JSON",
  ndjson: "NDJSON",
};
export const formats = Object.keys(formatNames) as readonly Format[];

/** The format that the name of a file stands for. */
export function formatOf(name: string): Format | undefined {
  const extension = name.toLowerCase().split(".").at(-1);
  if (extension === "jsonl") return "ndjson";
  return formats.find((format) => format === extension);
}

/** Values can be 64-bit ids of pets, so numbers are kept as texts. */
const numericValue = /("(?:from|to)":)(-?\d+)(?=[,}])/g;

/** Reads a response. Throws an ApiError unless it is a success. */
export function readResult(status: number, text: string): Import {
  const body = parseBody(text.replace(numericValue, '$1"$2"'));
  if (status === 200) return body as Import;
  const { code = "unknown", message = `The service answered with status ${status}.` } = body as {
    code?: string;
    message?: string;
  };
  throw new ApiError(code, message, status);
}

function parseBody(text: string): object {
  try {
    return Object(parseExactly(text)) as object;
  } catch {
    return {};
  }
}
