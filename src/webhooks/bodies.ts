import { answerBytesMax } from "../domain/webhooks/webhook.ts";

/** How the end of a response body is found. Infinity: by the end of the connection. */
export type Framing = "chunked" | number;

/** Reads a response body as it arrives, and keeps its beginning. */
export interface BodyReader {
  /** Returns true once the body is complete. */
  push(bytes: Buffer): boolean;
  /** The beginning of the body. */
  text(): string;
}

export function createBodyReader(framing: Framing): BodyReader {
  let kept = Buffer.alloc(0);
  const keep = (bytes: Buffer) => {
    if (kept.length >= answerBytesMax) return;
    kept = Buffer.concat([kept, bytes.subarray(0, answerBytesMax - kept.length)]);
  };
  const push = framing === "chunked" ? readChunks(keep) : readBytes(framing, keep);
  return { push, text: () => toText(kept) };
}

function readBytes(length: number, keep: (bytes: Buffer) => void): (bytes: Buffer) => boolean {
  let left = length;
  return (bytes) => {
    keep(bytes.subarray(0, left));
    left -= bytes.length;
    return left <= 0;
  };
}

/** Reads the chunked transfer coding. The body ends at the last chunk, or where it is malformed. */
function readChunks(keep: (bytes: Buffer) => void): (bytes: Buffer) => boolean {
  /** The line with the size of the next chunk, as far as it has arrived. */
  let line = "";
  /** Bytes of the current chunk that have not arrived. Null while a line is read. */
  let left: number | null = null;
  return (bytes) => {
    let rest = bytes;
    while (rest.length > 0) {
      if (left !== null) {
        keep(rest.subarray(0, left));
        const used = Math.min(left, rest.length);
        rest = rest.subarray(used);
        left = used === left ? null : left - used;
        continue;
      }
      const end = rest.indexOf("\n");
      line += rest.toString("latin1", 0, end < 0 ? rest.length : end);
      if (end < 0) return false;
      rest = rest.subarray(end + 1);
      const [, size] = /^\s*([0-9a-f]{1,8})\s*(?:;|$)/i.exec(line) ?? [];
      const isEndOfChunk = line.trim() === "";
      line = "";
      if (isEndOfChunk) continue;
      left = Number.parseInt(size ?? "0", 16);
      if (left === 0) return true;
    }
    return false;
  };
}

/**
 * Decodes at most `answerBytesMax` bytes to text of at most as many bytes. Invalid UTF-8 becomes
 * U+FFFD, which is longer than one byte. NUL does too, because PostgreSQL cannot store it. A
 * character that is cut at the end is left out.
 */
function toText(bytes: Buffer): string {
  const isCut = bytes.length === answerBytesMax;
  const text = new TextDecoder().decode(bytes, { stream: isCut }).replaceAll("\0", "\ufffd");
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(answerBytesMax));
  return text.slice(0, read);
}
