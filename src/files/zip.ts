import { crc32, createInflateRaw } from "node:zlib";
import { BrokenText } from "./lines.ts";
import type { Bytes } from "./text.ts";

/** Reads a file of an archive. Undefined if there is none. Throws if it has more bytes than that. */
export type ReadPart = (name: string, bytesMax: number) => AsyncGenerator<Uint8Array> | undefined;

/** The directory is at the end of an archive, so the whole archive is kept, compressed as it is. */
const archiveBytesMax = 256 * 1_048_576;

/** Opens a ZIP archive. Names are only compared, never used as paths. */
export async function openArchive(bytes: Bytes): Promise<ReadPart> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bounded(bytes, archiveBytesMax)) chunks.push(chunk);
  const archive = Buffer.concat(chunks);
  /** Where the directory describes each file. */
  const places = new Map<string, number>();
  try {
    const end = archive.lastIndexOf("PK\x05\x06");
    if (end < 0) throw new RangeError("there is no directory");
    let at = archive.readUInt32LE(end + 16);
    for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
      const nameEnd = at + 46 + archive.readUInt16LE(at + 28);
      places.set(archive.toString("latin1", at + 46, nameEnd), at);
      at = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    }
  } catch (error) {
    throw asBroken(error);
  }
  return (name, bytesMax) => {
    const at = places.get(name);
    return at === undefined ? undefined : bounded(contentOf(archive, at), bytesMax);
  };
}

const chunkBytes = 65_536;

/** The bytes of a file, by its place in the directory. */
async function* contentOf(archive: Buffer, at: number): Bytes & AsyncGenerator<Uint8Array> {
  try {
    const offset = archive.readUInt32LE(at + 42);
    const names = archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const start = offset + 30 + names;
    const content = archive.subarray(start, start + archive.readUInt32LE(at + 20));
    const isStored = archive.readUInt16LE(at + 10) === 0;
    const stream = createInflateRaw({ chunkSize: chunkBytes });
    if (!isStored) stream.end(content);
    let sum = 0;
    for await (const chunk of isStored ? [content] : stream) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== archive.readUInt32LE(at + 16)) throw new RangeError("the checksum is wrong");
  } catch (error) {
    throw asBroken(error);
  }
}

async function* bounded(bytes: Bytes, bytesMax: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > bytesMax) {
      const problem = `a part of it has more than ${bytesMax / 1_048_576} MiB`;
      throw new BrokenText(1, `the workbook is too large: ${problem}`);
    }
    yield chunk;
  }
}

/** Reading beyond the end is a RangeError, and the inflater has codes of its own. */
function asBroken(error: unknown): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!(error instanceof RangeError) && !code.startsWith("Z_")) return error;
  return new BrokenText(1, "the file is not a workbook (.xlsx), is damaged, or has a password");
}
