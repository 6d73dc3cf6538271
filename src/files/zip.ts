import { crc32, createInflateRaw } from "node:zlib";
import { BrokenText } from "./lines.ts";
import type { Bytes } from "./text.ts";

/** The files in a ZIP archive. */
export interface Archive {
  has(name: string): boolean;
  /** The bytes of a file, in chunks. Throws if there is none, or more than `bytesMax`. */
  read(name: string, bytesMax: number): Bytes;
}

interface Entry {
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly checksum: number;
  readonly compressedBytes: number;
  readonly offset: number;
}

/** The directory is at the end of an archive, so the whole archive is kept, compressed as it is. */
const archiveBytesMax = 256 * 1_048_576;

export async function openArchive(bytes: Bytes): Promise<Archive> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > archiveBytesMax) throw new BrokenText(1, tooLarge(archiveBytesMax));
    chunks.push(chunk);
  }
  const archive = Buffer.concat(chunks, length);
  const entries = readDirectory(archive);
  return {
    has: (name) => entries.has(name.toLowerCase()),
    read(name, bytesMax) {
      const entry = entries.get(name.toLowerCase());
      if (!entry) throw new BrokenText(1, `the file is not a workbook: it has no ${name}`);
      return inflated(contentOf(archive, entry), entry, bytesMax);
    },
  };
}

const directoryEnd = Buffer.from("PK\x05\x06");
const directoryEndBytes = 22;
const entryBytes = 46;
const localBytes = 30;

function readDirectory(archive: Buffer): Map<string, Entry> {
  const end = archive.lastIndexOf(directoryEnd);
  if (end < 0 || end + directoryEndBytes > archive.length) throw damaged();
  const entries = new Map<string, Entry>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    if (at + entryBytes > end || archive.toString("latin1", at, at + 4) !== "PK\x01\x02") {
      throw damaged();
    }
    const nameEnd = at + entryBytes + archive.readUInt16LE(at + 28);
    // Names are only compared, never used as paths. Those of a workbook are ASCII.
    entries.set(archive.toString("latin1", at + entryBytes, nameEnd).toLowerCase(), {
      method: archive.readUInt16LE(at + 10),
      isEncrypted: (archive.readUInt16LE(at + 8) & 1) === 1,
      checksum: archive.readUInt32LE(at + 16),
      compressedBytes: archive.readUInt32LE(at + 20),
      offset: archive.readUInt32LE(at + 42),
    });
    at = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

function contentOf(archive: Buffer, { offset, compressedBytes }: Entry): Buffer {
  if (offset + localBytes > archive.length) throw damaged();
  const lengths = archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  const start = offset + localBytes + lengths;
  if (start + compressedBytes > archive.length) throw damaged();
  return archive.subarray(start, start + compressedBytes);
}

const chunkBytes = 65_536;

async function* inflated(content: Buffer, entry: Entry, bytesMax: number) {
  const { method, isEncrypted, checksum } = entry;
  if (isEncrypted) throw new BrokenText(1, "the file has a password; save it without one");
  if (method !== 0 && method !== 8) throw damaged();
  let bytes = 0;
  let sum = 0;
  try {
    for await (const chunk of method === 0 ? slices(content) : inflate(content)) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new BrokenText(1, tooLarge(bytesMax));
      sum = crc32(chunk, sum);
      yield chunk;
    }
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw code.startsWith("Z_") ? damaged() : error;
  }
  if (sum !== checksum) throw damaged();
}

function* slices(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += chunkBytes) {
    yield content.subarray(at, at + chunkBytes);
  }
}

function inflate(content: Buffer): AsyncIterable<Buffer> {
  const stream = createInflateRaw({ chunkSize: chunkBytes });
  stream.end(content);
  return stream;
}

function tooLarge(bytesMax: number): string {
  return `the workbook is too large: a part of it has more than ${bytesMax / 1_048_576} MiB`;
}

function damaged(): BrokenText {
  return new BrokenText(1, "the file is not a workbook (.xlsx), or it is damaged");
}
