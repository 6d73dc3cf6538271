import { crc32, createInflateRaw } from "node:zlib";
import { BrokenText } from "./lines.ts";
import { freeing } from "./memory.ts";
import type { Bytes } from "./text.ts";

/** The directory is at the end of an archive, so the whole archive is kept, compressed as it is. */
const archiveBytesMax = 256 * 1_048_576;
const chunkBytes = 65_536;

export async function readArchive(bytes: Bytes): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(bounded(bytes, archiveBytesMax)));
}

/**
 * Reads a part of a ZIP archive in chunks. A small archive can have parts of any size, so one of more
 * bytes is refused. Names are only compared, never used as paths.
 */
export async function* readPart(
  archive: Buffer,
  name: string,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  try {
    const at = placeOf(archive, name);
    const offset = archive.readUInt32LE(at + 42);
    const names = archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const start = offset + 30 + names;
    const content = archive.subarray(start, start + archive.readUInt32LE(at + 20));
    const isStored = archive.readUInt16LE(at + 10) === 0;
    const inflater = createInflateRaw({ chunkSize: chunkBytes });
    const chunks = isStored ? slicesOf(content) : inflater.end(content);
    let sum = 0;
    for await (const chunk of bounded(chunks, bytesMax)) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== archive.readUInt32LE(at + 16)) throw new RangeError("the checksum is wrong");
  } catch (error) {
    // Reading beyond the end is a RangeError, and the inflater has codes of its own.
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!(error instanceof RangeError) && !code.startsWith("Z_")) throw error;
    throw new BrokenText(1, "the file is not a workbook (.xlsx), is damaged, or has a password");
  }
}

/** Where the directory describes a part. */
function placeOf(archive: Buffer, name: string): number {
  const end = archive.lastIndexOf("PK\x05\x06");
  if (end < 0) throw new RangeError("there is no directory");
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const nameEnd = at + 46 + archive.readUInt16LE(at + 28);
    if (archive.toString("latin1", at + 46, nameEnd) === name) return at;
    at = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new BrokenText(1, `the file is not a workbook: it has no ${name}`);
}

function* slicesOf(content: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < content.length; at += chunkBytes) {
    yield content.subarray(at, at + chunkBytes);
  }
}

async function* bounded(bytes: Bytes | Iterable<Uint8Array>, bytesMax: number) {
  let length = 0;
  for await (const chunk of freeing(bytes)) {
    length += chunk.length;
    const problem = `the workbook, or a part of it, has more than ${bytesMax / 1_048_576} MiB`;
    if (length > bytesMax) throw new BrokenText(1, problem);
    yield chunk;
  }
}
