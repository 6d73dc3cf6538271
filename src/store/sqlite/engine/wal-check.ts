import { openSync, readSync, writeSync } from "node:fs";
import type { StoreFiles } from "./files.ts";

/**
 * Detects a write-ahead log, or an index of it, that was truncated or overwritten in place. The index
 * records where the log ends: the salts of the log, its number of frames, and the checksum of the last
 * frame (https://www.sqlite.org/walformat.html). That end only moves forward until SQLite restarts
 * the log, and its frame is in the log. Neither is true for an older copy or a log that was cut. The
 * index also lists the page of every frame. A commit that is under way restores the end in an older
 * copy, but not the pages of the frames that the copy does not know.
 *
 * SQLite rebuilds an index that was wiped, but not during a transaction, so a constant that we write
 * into the index shows whether it was wiped.
 */
export interface WalCheck {
  /** The file that was overwritten, if any. Costs two or three short reads. */
  findOverwritten(): "wal" | "walIndex" | undefined;
}

interface WalEnd {
  readonly frames: number;
  readonly frameBytes: number;
  /**
   * The header of the last frame from its ninth byte on: two salts, which change whenever SQLite
   * restarts the log, and two checksums.
   */
  readonly frameMark: Buffer;
}

const indexHeaderBytes = 48;
/** Four bytes that SQLite never reads or writes: the format reserves them for later versions. */
const indexMarkAt = 132;
const indexMark = 0x70657473;
/** The index is a sequence of blocks. Each begins with the pages of its frames, the first with a header. */
const indexBlockBytes = 32_768;
const indexPagesAt = 136;
const pagesPerBlock = 4_096;
const pagesInFirstBlock = pagesPerBlock - indexPagesAt / 4;
const walHeaderBytes = 32;
const walSaltsAt = 16;
const frameHeaderBytes = 24;
const frameMarkAt = 8;
const saltsBytes = 8;
const attemptsMax = 3;

export function createWalCheck(files: StoreFiles): WalCheck {
  // Never closed: that would drop every lock that SQLite holds on the index in this process.
  const index = openSync(files.walIndex, "r+");
  const wal = openSync(files.wal, "r");
  const headers = Buffer.alloc(indexMarkAt + 4);
  const frame = Buffer.alloc(frameHeaderBytes);
  const pageNumber = Buffer.alloc(4);
  // All processes write the same constant, so their order does not matter.
  writeSync(index, Uint32Array.of(indexMark), 0, 4, indexMarkAt);
  let known = readEnd();

  /** Undefined if the index is empty or being written: the two copies of its header then differ. */
  function readEnd(): WalEnd | undefined {
    readSync(index, headers, 0, headers.length, 0);
    const isWritten = headers[12] === 1;
    const [first, second] = [indexHeaderBytes, 2 * indexHeaderBytes];
    // Comparing in place: every commit checks, and a view of a Buffer costs more than the rest.
    if (!isWritten || headers.compare(headers, 0, first, first, second) !== 0) return undefined;
    const frameMark = Buffer.alloc(16);
    headers.copy(frameMark, 0, 32, 40);
    frameMark.writeUInt32BE(headers.readUInt32LE(24), 8);
    frameMark.writeUInt32BE(headers.readUInt32LE(28), 12);
    const pageBytes = headers.readUInt16LE(14);
    return {
      frames: headers.readUInt32LE(16),
      frameBytes: frameHeaderBytes + (pageBytes === 1 ? 65_536 : pageBytes),
      frameMark,
    };
  }

  /** Whether the header of the log has these salts. */
  function hasSalts({ frames, frameMark }: WalEnd): boolean {
    if (frames === 0) return true;
    readSync(wal, frame, 0, saltsBytes, walSaltsAt);
    return frame.compare(frameMark, 0, saltsBytes, 0, saltsBytes) === 0;
  }

  /** The file that does not have the last frame. A log without frames contains nothing to lose. */
  function findMissing({ frames, frameBytes, frameMark }: WalEnd): "wal" | "walIndex" | undefined {
    if (frames === 0) return undefined;
    const at = walHeaderBytes + (frames - 1) * frameBytes;
    const read = readSync(wal, frame, 0, frame.length, at);
    const hasMark = frame.compare(frameMark, 0, frameMark.length, frameMarkAt) === 0;
    if (read !== frame.length || !hasMark) return "wal";
    readSync(index, pageNumber, 0, pageNumber.length, pageNumberAt(frames));
    return pageNumber.readUInt32LE(0) === frame.readUInt32BE(0) ? undefined : "walIndex";
  }

  /** Undefined if the index changed during the check, so that it proves nothing. */
  function check(): "intact" | "wal" | "walIndex" | undefined {
    const end = readEnd();
    if (headers.readUInt32LE(indexMarkAt) !== indexMark) return "walIndex";
    if (!end) return undefined;
    const order = known && compare(end, known);
    if (order === "behind") return "walIndex";
    let missing = findMissing(end);
    // The end of the last check must still be there, however many frames follow it.
    if (order === "ahead") missing ??= findMissing(known!);
    if (order === "restarted" && !hasSalts(end)) missing ??= "walIndex";
    if (!missing) {
      known = end;
      return "intact";
    }
    return isSame(end, readEnd()) ? missing : undefined;
  }

  return {
    findOverwritten() {
      for (let attempt = 0; attempt < attemptsMax; attempt++) {
        const result = check();
        if (result) return result === "intact" ? undefined : result;
      }
      // SQLite repairs two headers that stay different.
      return undefined;
    },
  };
}

/** Where the index has the page number of a frame. Frames are counted from 1. */
function pageNumberAt(frame: number): number {
  const first = frame - 1;
  if (first < pagesInFirstBlock) return indexPagesAt + 4 * first;
  const rest = first - pagesInFirstBlock;
  const block = 1 + Math.floor(rest / pagesPerBlock);
  return block * indexBlockBytes + 4 * (rest % pagesPerBlock);
}

/** `restarted`: SQLite has restarted the log since, so its frames have no order with those before. */
function compare(end: WalEnd, known: WalEnd): "same" | "ahead" | "behind" | "restarted" {
  const hasSameSalts = end.frameMark.compare(known.frameMark, 0, saltsBytes, 0, saltsBytes) === 0;
  if (!hasSameSalts) return "restarted";
  if (end.frames === known.frames) return isSame(end, known) ? "same" : "behind";
  return end.frames > known.frames ? "ahead" : "behind";
}

function isSame(one: WalEnd, other: WalEnd | undefined): boolean {
  return (
    other !== undefined && one.frames === other.frames && one.frameMark.equals(other.frameMark)
  );
}
