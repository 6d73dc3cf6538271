import { ApiError, toError } from "../client/api.ts";
import { parseExactly } from "../client/exact-json.ts";
import type { Import, Order, petChangeFields } from "../client/types.ts";

export type ImportKind = "pets" | "orders";
export type Format = "xlsx" | "csv" | "json" | "ndjson";
export const formatNames: Readonly<Record<Format, string>> = {
  xlsx: "Excel",
  csv: "CSV",
  json: "JSON",
  ndjson: "NDJSON",
};
export const formats = Object.keys(formatNames) as readonly Format[];

type PetColumn = (typeof petChangeFields)[number]["name"] | "petId" | "status" | "quantity";

/** The fields of a file, each with an example. */
export const examples: {
  readonly pets: Readonly<Record<PetColumn, string>>;
  readonly orders: Readonly<Record<keyof Order, string>>;
} = {
  pets: {
    ...{ petId: "1", name: "Biscuit", category: "Dogs", tags: "small|house-trained" },
    ...{ photoUrls: "https://photos.example/biscuit.jpg", barcode: "4006381333931" },
    ...{ lowStockAt: "3", status: "available", quantity: "12" },
  },
  orders: {
    ...{ id: "1", petId: "1", quantity: "2", shipDate: "2026-05-01T12:00:00Z" },
    ...{ status: "placed", complete: "false" },
  },
};

/** The format that the name of a file stands for. */
export function formatOf(name: string): Format | undefined {
  const extension = name.toLowerCase().split(".").at(-1);
  if (extension === "jsonl") return "ndjson";
  if (extension === "tsv") return "csv";
  return formats.find((format) => format === extension);
}

export interface Upload {
  readonly what: ImportKind;
  readonly file: File;
  readonly format: Format;
  /** The fields of columns that are not named like a field. */
  readonly map: Readonly<Record<string, string>>;
  readonly isDryRun: boolean;
}

/**
 * Sends a file and returns the result. `sent` is called with the part that has arrived, from 0 to 1.
 * Only an XMLHttpRequest reports this in all browsers.
 */
export function sendFile(
  { what, file, format, map, isDryRun }: Upload,
  sent: (part: number) => void,
  signal: AbortSignal,
): Promise<Import> {
  const query = new URLSearchParams({ format, dryRun: `${isDryRun}`, name: file.name });
  const lines = Object.entries(map).map((pair) => pair.join("="));
  if (lines.length > 0) query.set("map", lines.join("\n"));
  const { promise, resolve, reject } = Promise.withResolvers<Import>();
  const upload = new XMLHttpRequest();
  upload.open("POST", `/admin/${what}/import?${query}`);
  upload.upload.addEventListener("progress", ({ loaded, total }) => {
    sent(total === 0 ? 1 : loaded / total);
  });
  upload.upload.addEventListener("load", () => sent(1));
  upload.addEventListener("load", () => resolve(readResult(upload.status, upload.responseText)));
  upload.addEventListener("error", () => {
    reject(new ApiError("offline", "The connection was lost, or the file has changed.", 0));
  });
  signal.addEventListener("abort", () => {
    upload.abort();
    reject(signal.reason);
  });
  upload.setRequestHeader("Content-Type", "application/octet-stream");
  upload.send(file);
  return promise;
}

/** Values can be 64-bit ids of pets, so numbers are kept as texts. */
const numericValue = /("(?:from|to)":)(-?\d+)(?=[,}])/g;

/** Reads a response. Throws an ApiError unless it is a success. */
export async function readResult(status: number, text: string): Promise<Import> {
  if (status !== 200) throw await toError(new Response(text, { status }));
  return parseExactly(text.replace(numericValue, '$1"$2"')) as Import;
}
