import { createReadStream, createWriteStream } from "node:fs";
import { extname } from "node:path";
import { pipeline } from "node:stream/promises";
import { invalidRequest, ServiceError } from "../domain/running/errors.ts";
import { creationReasonOf, reasonOf } from "../file-errors.ts";
import { printableLines, ReaderGone } from "../output.ts";
import { isSpecial, replaceFile } from "./replacement.ts";

export const formatFlag = <const F extends readonly string[]>(formats: F) => ({
  placeholder: formats.join("|"),
  description: "Format of the file. Default: the extension of its name, or ndjson for -.",
});

/** The format that was given with --format, or that of the file's extension. */
export function formatOf<F extends string>(
  file: string,
  given: string | undefined,
  formats: readonly F[],
): F {
  const name = given ?? (file === "-" ? "ndjson" : extname(file).slice(1).toLowerCase());
  const found = formats.find((format) => format === name);
  if (found) return found;
  const rule = `must be one of ${formats.join(", ")}`;
  if (given !== undefined) throw invalidRequest(`--format ${rule}`);
  const advice = adviceByExtension[name] ?? "or name the format with --format";
  throw invalidRequest(`the extension of ${file} ${rule}; ${advice}`);
}

const spreadsheet = "save the sheet as .xlsx or CSV";
const adviceByExtension: Readonly<Record<string, string>> = {
  xls: spreadsheet,
  ods: spreadsheet,
  numbers: spreadsheet,
  tsv: "add --format csv",
  jsonl: "add --format ndjson",
  gz: "decompress the file first",
  zip: "extract the file first",
};

/** What messages call a file, or standard input. */
export function nameOf(file: string): string {
  return file === "-" ? "stdin" : file;
}

/** Reads a file or standard input in chunks. Errors name the file. */
export async function* readBytes(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === "-" ? process.stdin : createReadStream(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "no such file" : reasonOf(error);
    throw invalidRequest(`cannot read ${nameOf(file)}: ${reason}`);
  }
}

/**
 * Writes pieces of text to standard output or to a file, and waits if the reader is slow. A file is
 * replaced only if all pieces were written. On a terminal, control characters are escaped. Files and
 * pipes get the exact text.
 */
export async function writeText(file: string, pieces: AsyncIterable<string>): Promise<void> {
  try {
    if (file === "-") {
      const text = process.stdout.isTTY ? escapedPieces(pieces) : pieces;
      await pipeline(text, process.stdout, { end: false });
    } else if (isSpecial(file)) await pipeline(pieces, createWriteStream(file));
    else {
      await replaceFile(file, async (handle) => {
        for await (const piece of pieces) await handle.writeFile(piece);
      });
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (file === "-" && code === "EPIPE") throw new ReaderGone();
    const reason = creationReasonOf(error);
    const target = file === "-" ? "to stdout" : file;
    throw invalidRequest(`cannot write ${target}: ${reason}`);
  }
}

/** Writes one of many pieces to standard output, and waits if the reader is slow. */
export function writeToStdout(piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(piece, (error) => {
      if (!error) resolve();
      else reject((error as NodeJS.ErrnoException).code === "EPIPE" ? new ReaderGone() : error);
    });
  });
}

async function* escapedPieces(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) yield printableLines(piece);
}
