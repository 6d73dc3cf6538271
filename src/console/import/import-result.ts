import { ApiError } from "../client/api.ts";
import { parseExactly } from "../client/exact-json.ts";

export type ImportKind = "pets" | "orders";
export type Format = "csv" | "json" | "ndjson";
export const formats: readonly Format[] = ["csv", "json", "ndjson"];

/** What an import did or, in a dry run, would do. */
export interface ImportResult {
  readonly dryRun: boolean;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly problems: {
    readonly total: number;
    readonly rows: readonly Problem[];
    readonly hint?: string | null;
  };
  readonly differences: { readonly total: number; readonly rows: readonly Difference[] };
}

export interface Problem {
  readonly line: number;
  readonly column: string | null;
  readonly value: string | null;
  readonly rule: string;
}

export interface Difference {
  readonly id: string;
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** The format that the name of a file stands for. */
export function formatOf(name: string): Format | undefined {
  const extension = name.toLowerCase().split(".").at(-1);
  if (extension === "jsonl") return "ndjson";
  return formats.find((format) => format === extension);
}

/** Values can be 64-bit ids of pets, so numbers are kept as texts. */
const numericValue = /("(?:from|to)":)(-?\d+)(?=[,}])/g;

/** Reads a response. Throws an ApiError unless it is a success. */
export function readResult(status: number, text: string): ImportResult {
  const body = parseBody(text.replace(numericValue, '$1"$2"'));
  if (status === 200) return body as ImportResult;
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
