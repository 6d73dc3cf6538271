import { createReadStream, createWriteStream } from "node:fs";
import { extname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Refusal } from "../domain/errors.ts";

export const formats = ["csv", "ndjson", "json"] as const;
export type Format = (typeof formats)[number];

/** The format a file's name tells, or the one that was asked for. */
export function formatOf(file: string, asked: unknown): Format {
  const wanted = typeof asked === "string" ? asked : extname(file).slice(1).toLowerCase();
  const found = formats.find((format) => format === wanted);
  if (found) return found;
  if (file === "-" && asked === undefined) return "ndjson";
  throw new Refusal("invalid_request", `${file}: the format must be one of ${formats.join(", ")}`);
}

/** The text of a file or of standard input, piece by piece; invalid UTF-8 is refused. */
export async function* readText(file: string): AsyncGenerator<string> {
  const stream: Readable = file === "-" ? process.stdin : createReadStream(file);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of stream) yield decode(decoder, file, chunk as Uint8Array);
    yield decode(decoder, file, undefined);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal("invalid_request", `cannot read ${file}: ${reasonOf(error)}`);
  }
}

function decode(decoder: TextDecoder, file: string, bytes: Uint8Array | undefined): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
  } catch {
    throw new Refusal("invalid_request", `${file} is not valid UTF-8`);
  }
}

/** Writes pieces of text to a file or to standard output, waiting while it is slow. */
export async function writeText(file: string, pieces: AsyncIterable<string>): Promise<void> {
  const stream: Writable = file === "-" ? process.stdout : createWriteStream(file);
  try {
    await pipeline(pieces, stream, { end: file !== "-" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such folder" : reasonOf(error);
    throw new Refusal("invalid_request", `cannot write ${file}: ${reason}`);
  }
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a directory";
  if (code === "ENOSPC") return "no space is left";
  if (code === "EPIPE") return "its reader has left";
  return error instanceof Error ? error.message : String(error);
}
