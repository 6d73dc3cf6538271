import { openSync, readSync, writeSync } from "node:fs";
import type { StoreFiles } from "./files.ts";

/**
 * Recognises a log or an index that was truncated or overwritten in place. The index says where the
 * log ends: which generation of the log it is, how many frames it has, and the last one's checksum
 * (https://www.sqlite.org/walformat.html). That end moves only forward until the log begins anew, and
 * its frame is in the log. Neither holds for an older copy, or for a log that was cut. SQLite makes an
 * index anew that was wiped, but not in the middle of a transaction, so a mark of ours shows a wiped one.
 */
export interface LogEndCheck {
  /** The file that is not what this process knows it to be. Costs two or three short reads. */
  findOverwritten(): "log" | "index" | undefined;
}

interface LogEnd {
  readonly frames: number;
  readonly frameBytes: number;
  /** Two numbers that change whenever the log begins anew. */
  readonly salts: Buffer;
  /** What the last frame's header has from its ninth byte on: the salts and two checksums. */
  readonly mark: Buffer;
}

const indexHeaderBytes = 48;
/** Four bytes that SQLite never reads or writes: the format keeps them for later versions. */
const indexMarkAt = 132;
const indexMark = 0x70657473;
const logHeaderBytes = 32;
const logSaltsAt = 16;
const frameHeaderBytes = 24;
const attemptsMax = 3;

export function createLogEndCheck(files: StoreFiles): LogEndCheck {
  // Never closed: that would drop every lock that SQLite holds on the index in this process.
  const index = openSync(files.index, "r+");
  const log = openSync(files.log, "r");
  const headers = Buffer.alloc(indexMarkAt + 4);
  const frame = Buffer.alloc(frameHeaderBytes);
  // The same in every process, so that it does not matter who writes it.
  writeSync(index, Uint32Array.of(indexMark), 0, 4, indexMarkAt);
  let known = readEnd();

  /** Undefined if the index is empty, or being written: the two copies of its header then differ. */
  function readEnd(): LogEnd | undefined {
    readSync(index, headers, 0, headers.length, 0);
    const copy = headers.subarray(indexHeaderBytes, 2 * indexHeaderBytes);
    const isWritten = headers[12] === 1;
    if (!isWritten || copy.compare(headers, 0, indexHeaderBytes) !== 0) return undefined;
    const mark = Buffer.alloc(16);
    headers.copy(mark, 0, 32, 40);
    mark.writeUInt32BE(headers.readUInt32LE(24), 8);
    mark.writeUInt32BE(headers.readUInt32LE(28), 12);
    const pageBytes = headers.readUInt16LE(14);
    return {
      frames: headers.readUInt32LE(16),
      frameBytes: frameHeaderBytes + (pageBytes === 1 ? 65_536 : pageBytes),
      salts: mark.subarray(0, 8),
      mark,
    };
  }

  /** Whether the log's own header has these salts. */
  function isLogOf({ frames, salts }: LogEnd): boolean {
    if (frames === 0) return true;
    readSync(log, frame, 0, salts.length, logSaltsAt);
    return frame.subarray(0, salts.length).equals(salts);
  }

  /** Whether the frame is in the log. A log without frames has nothing to lose. */
  function isInLog({ frames, frameBytes, mark }: LogEnd): boolean {
    if (frames === 0) return true;
    const at = logHeaderBytes + (frames - 1) * frameBytes;
    const read = readSync(log, frame, 0, frame.length, at);
    return read === frame.length && frame.subarray(8).equals(mark);
  }

  /** Undefined if the index changed meanwhile, so that nothing can be said. */
  function judge(): "whole" | "log" | "index" | undefined {
    const end = readEnd();
    if (headers.readUInt32LE(indexMarkAt) !== indexMark) return "index";
    if (!end) return undefined;
    const order = known && compare(end, known);
    if (order === "behind") return "index";
    // What was the end a moment ago must still be there, however many frames follow.
    const isWhole = isInLog(end) && (order !== "ahead" || isInLog(known!));
    const isOfLog = order !== "anew" || isLogOf(end);
    if (isWhole && isOfLog) {
      known = end;
      return "whole";
    }
    if (!isSame(end, readEnd())) return undefined;
    return isWhole ? "index" : "log";
  }

  return {
    findOverwritten() {
      for (let attempt = 0; attempt < attemptsMax; attempt++) {
        const verdict = judge();
        if (verdict) return verdict === "whole" ? undefined : verdict;
      }
      // Two headers that stay different are for SQLite to repair.
      return undefined;
    },
  };
}

/** `anew`: the log has begun anew since, so its frames have nothing to do with those before. */
function compare(end: LogEnd, known: LogEnd): "same" | "ahead" | "behind" | "anew" {
  if (!end.salts.equals(known.salts)) return "anew";
  if (end.frames === known.frames) return isSame(end, known) ? "same" : "behind";
  return end.frames > known.frames ? "ahead" : "behind";
}

function isSame(one: LogEnd, other: LogEnd | undefined): boolean {
  return other !== undefined && one.frames === other.frames && one.mark.equals(other.mark);
}
