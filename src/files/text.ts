import { isAscii, isUtf8 } from "node:buffer";
import { BrokenText } from "./lines.ts";

/** Bytes that arrive in chunks. */
export type Bytes = AsyncIterable<Uint8Array>;

/** The longest mark at the beginning of a file. */
const markBytesMax = 4;

/**
 * Decodes a text in pieces. Rejects text that is not UTF-8, with the line, after all that is before.
 * With `found`, it also reads what spreadsheet programs write, and calls `found` with the encoding.
 */
export async function* decodeText(
  chunks: Bytes,
  found?: (encoding: string) => void,
): AsyncGenerator<string> {
  let decode: ((bytes: Uint8Array, isLast: boolean) => string) | undefined;
  let line = 1;
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of withLast(chunks)) {
    const bytes: Uint8Array = rest.length === 0 ? chunk.bytes : Buffer.concat([rest, chunk.bytes]);
    if (!decode && bytes.length < markBytesMax && !chunk.isLast) {
      rest = bytes;
      continue;
    }
    decode ??= decoderFor(bytes, found);
    // A character may continue in the next chunk.
    const end = chunk.isLast ? bytes.length : wholeCharacters(bytes);
    rest = bytes.subarray(end);
    const text = bytes.subarray(0, end);
    try {
      yield decode(text, chunk.isLast);
    } catch (error) {
      if (!(error instanceof BadBytes)) throw error;
      const start = text.lastIndexOf(0x0a, error.at) + 1;
      yield decode(text.subarray(0, start), false);
      throw new BrokenText(line + countLines(text.subarray(0, start)), error.rule);
    }
    line += countLines(text);
  }
}

/** Bytes that the encoding of the text does not have. */
class BadBytes extends Error {
  readonly at: number;
  readonly rule: string;

  constructor(at: number, rule: string) {
    super(rule);
    this.at = at;
    this.rule = rule;
  }
}

function decoderFor(start: Uint8Array, found: ((encoding: string) => void) | undefined) {
  assertText(start);
  const isLittle = hasMark(start, 0xff, 0xfe);
  if (!isLittle && !hasMark(start, 0xfe, 0xff)) return textDecoder(found);
  if (!found) throw new BrokenText(1, inUtf16);
  found("UTF-16");
  const decoder = new TextDecoder(isLittle ? "utf-16le" : "utf-16be");
  return (bytes: Uint8Array, isLast: boolean) => decoder.decode(bytes, { stream: !isLast });
}

const inUtf16 = "the file is in UTF-16; save it as UTF-8";

/** A character of UTF-8 beyond ASCII, or a byte that is not part of one. */
const beyondAscii =
  /[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}|[\x80-\xff]/g;

/**
 * Decodes UTF-8, or Windows-1252 if `found` is given and no character beyond ASCII is UTF-8. A file
 * with characters of both was put together from two files, and is refused rather than guessed at.
 */
function textDecoder(found: ((encoding: string) => void) | undefined) {
  let encoding: "UTF-8" | "Windows-1252" | undefined;
  let isStart = true;
  return (bytes: Uint8Array): string => {
    const text = isStart && hasMark(bytes, 0xef, 0xbb, 0xbf) ? bytes.subarray(3) : bytes;
    if (text !== bytes) encoding = "UTF-8";
    if (encoding !== "Windows-1252" && isUtf8(text)) {
      if (!isAscii(text)) encoding = "UTF-8";
    } else {
      const characters = Buffer.from(text).toString("latin1").matchAll(beyondAscii);
      for (const { 0: character, index } of characters) {
        const isValid = character.length > 1;
        encoding ??= isValid || !found ? "UTF-8" : "Windows-1252";
        // In Windows-1252, a sharp s may be followed by a quotation mark, which also is valid UTF-8.
        if (isValid === (encoding === "UTF-8") || (isValid && character[0] === "ß")) continue;
        const at = index + bytes.length - text.length;
        throw new BadBytes(at, found ? inTwoEncodings : notUtf8);
      }
    }
    isStart = false;
    found?.(encoding ?? "UTF-8");
    return (encoding === "Windows-1252" ? latin : utf8).decode(text);
  };
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const latin = new TextDecoder("windows-1252");
const notUtf8 = "the text is not UTF-8, perhaps Latin-1; save the file as UTF-8";
const inTwoEncodings =
  "the text is partly in UTF-8 and partly in another encoding, perhaps Windows-1252; save the file as UTF-8";

async function* withLast(chunks: Bytes): AsyncGenerator<{ bytes: Uint8Array; isLast: boolean }> {
  for await (const bytes of chunks) yield { bytes, isLast: false };
  yield { bytes: new Uint8Array(), isLast: true };
}

/** Rejects the beginning of a file that is not a text, with what to do about it. */
function assertText(bytes: Uint8Array): void {
  if (hasMark(bytes, 0x50, 0x4b, 3, 4)) {
    throw new BrokenText(1, "the file is a workbook or an archive, not a text", "xlsx");
  }
  if (hasMark(bytes, 0xd0, 0xcf, 0x11, 0xe0)) throw new BrokenText(1, oldWorkbook);
  if (hasMark(bytes, 0x1f, 0x8b) || hasMark(bytes, 0x28, 0xb5, 0x2f, 0xfd)) {
    throw new BrokenText(1, "the file is compressed; decompress it first");
  }
  const hasNoMark = !hasMark(bytes, 0xff, 0xfe) && !hasMark(bytes, 0xfe, 0xff);
  if (hasNoMark && bytes.subarray(0, markBytesMax).includes(0)) throw new BrokenText(1, inUtf16);
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

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
