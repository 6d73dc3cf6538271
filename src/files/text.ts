import { isAscii } from "node:buffer";
import { BrokenText } from "./lines.ts";

/** Bytes that arrive in chunks. */
export type Bytes = AsyncIterable<Uint8Array>;

/** The longest mark at the beginning of a file. */
const markBytesMax = 4;

/**
 * Decodes a text in pieces. Rejects text that is not UTF-8, with the line, after all that is before. The
 * text of a table may also be in Windows-1252: it is, if the first line beyond ASCII is not UTF-8.
 */
export async function* decodeText(chunks: Bytes, isTable: boolean): AsyncGenerator<string> {
  let decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let mayBeOther = isTable;
  let line = 1;
  let rest: Uint8Array = new Uint8Array();
  let isFirst = true;
  for await (const chunk of withLast(chunks)) {
    let bytes: Uint8Array = rest.length === 0 ? chunk.bytes : Buffer.concat([rest, chunk.bytes]);
    if (isFirst && bytes.length < markBytesMax && !chunk.isLast) {
      rest = bytes;
      continue;
    }
    if (isFirst) {
      assertText(bytes);
      if (hasMark(bytes, 0xef, 0xbb, 0xbf)) {
        bytes = bytes.subarray(3);
        mayBeOther = false;
      }
      isFirst = false;
    }
    // A character may continue in the next chunk.
    const end = chunk.isLast ? bytes.length : wholeCharacters(bytes);
    rest = bytes.subarray(end);
    const text = bytes.subarray(0, end);
    try {
      yield decoder.decode(text);
    } catch {
      const before = text.subarray(0, startOfBadLine(text));
      if (!mayBeOther || !isAscii(before)) {
        yield decoder.decode(before);
        throw notUtf8(line + countLines(before));
      }
      decoder = new TextDecoder("windows-1252");
      yield decoder.decode(text);
    }
    mayBeOther &&= isAscii(text);
    line += countLines(text);
  }
}

async function* withLast(chunks: Bytes): AsyncGenerator<{ bytes: Uint8Array; isLast: boolean }> {
  for await (const bytes of chunks) yield { bytes, isLast: false };
  yield { bytes: new Uint8Array(), isLast: true };
}

/** Rejects the beginning of a file that is not a text in UTF-8, with what to do about it. */
function assertText(bytes: Uint8Array): void {
  if (hasMark(bytes, 0x50, 0x4b, 3, 4)) {
    throw new BrokenText(1, "the file is a workbook or an archive, not a text", "xlsx");
  }
  if (hasMark(bytes, 0xd0, 0xcf, 0x11, 0xe0)) throw new BrokenText(1, oldWorkbook);
  if (hasMark(bytes, 0x1f, 0x8b) || hasMark(bytes, 0x28, 0xb5, 0x2f, 0xfd)) {
    throw new BrokenText(1, "the file is compressed; decompress it first");
  }
  const isUtf16 =
    hasMark(bytes, 0xff, 0xfe) ||
    hasMark(bytes, 0xfe, 0xff) ||
    bytes.subarray(0, markBytesMax).includes(0);
  if (isUtf16) throw new BrokenText(1, "the file is in UTF-16; save it as UTF-8");
}

function notUtf8(line: number): BrokenText {
  return new BrokenText(line, "the text is not UTF-8, perhaps Latin-1; save the file as UTF-8");
}

const oldWorkbook =
  "the file is a workbook of an old kind, or has a password; save it as .xlsx without a password";

function hasMark(bytes: Uint8Array, ...mark: readonly number[]): boolean {
  return mark.every((byte, at) => bytes[at] === byte);
}

/** Where the last complete character ends. At most three bytes follow. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Line feeds are never inside a character, so each line is valid or not by itself. */
function startOfBadLine(bytes: Uint8Array): number {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(0x0a, start);
    const end = feed < 0 ? bytes.length : feed + 1;
    try {
      decoder.decode(bytes.subarray(start, end));
    } catch {
      return start;
    }
    start = end;
  }
  return bytes.length;
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
