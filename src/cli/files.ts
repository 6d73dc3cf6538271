import { createReadStream, createWriteStream } from "node:fs";
import { extname } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Refusal } from "../domain/errors.ts";
import { printableLines } from "../output.ts";
import { isSpecial, replaceFile } from "./replacement.ts";

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

/**
 * Writes pieces of text to standard output or to a file, waiting while it is slow. A file holds
 * all of them or is left as it was. A terminal is shown the text with control characters escaped;
 * files and pipes get it exactly.
 */
export async function writeText(file: string, pieces: AsyncIterable<string>): Promise<void> {
  try {
    if (file === "-") {
      const text = process.stdout.isTTY ? shownPieces(pieces) : pieces;
      await pipeline(text, process.stdout, { end: false });
    } else if (isSpecial(file)) await pipeline(pieces, createWriteStream(file));
    else {
      await replaceFile(file, async (handle) => {
        for await (const piece of pieces) await handle.writeFile(piece);
      });
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such folder" : reasonOf(error);
    throw new Refusal("invalid_request", `cannot write ${file}: ${reason}`);
  }
}

async function* shownPieces(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) yield printableLines(piece);
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a directory";
  if (code === "ENOSPC") return "no space is left";
  if (code === "EFBIG") return "the file would be too large";
  if (code === "EPIPE") return "its reader has left";
  return error instanceof Error ? error.message : String(error);
}
