import { Database } from "bun:sqlite";
import { randomInt } from "node:crypto";
import { openSync, readSync, type Stats, statSync, writeSync } from "node:fs";
import type { FileName, StoreFiles } from "./files.ts";

/**
 * Finds a file of a store that was truncated or overwritten in place. Only for the process that serves
 * the store, on its writing thread.
 */
export function createOverwriteCheck(files: StoreFiles, database: Database) {
  const { findInLog, isIndexOverwritten } = createLogCheck(files);
  const isOverwritten = createHeadCheck(files, database);
  return {
    find: (found: Stats | undefined): FileName | undefined =>
      findInLog() ?? (found && isOverwritten(found) ? "database" : undefined),
    /** Cheaper than `find`. A write that uses an older index would overwrite later ones in the log. */
    isIndexOverwritten,
  };
}

/** The index begins with two copies of its header (https://www.sqlite.org/walformat.html). */
const headerBytes = 48;
/** The number of commits. It starts again at 0 after 2^32, and otherwise never decreases. */
const commitsAt = 8;
const indexSaltsAt = 32;
/** Four bytes that SQLite never reads or writes: the format reserves them for later versions. */
const numberAt = 132;
const logHeaderBytes = 32;
const logSaltsAt = 16;
const frameHeaderBytes = 24;
const frameSaltsAt = 8;
const saltsBytes = 8;

/**
 * The index must have the number that this process has written into it last. A commit repairs the header
 * of an index that was overwritten, but not its list of frames. The count of commits must not decrease: if
 * an older copy takes the place of the index during a check, it gets the new number. The log must have the
 * salts that the index has, at its start and in its last frame. Until SQLite begins the log again, with
 * other salts, it must also keep the frame that was its last one at the check before.
 */
function createLogCheck(files: StoreFiles) {
  // Never closed: that would drop every lock that SQLite holds on the index in this process.
  const index = openSync(files.walIndex, "r+");
  const log = openSync(files.wal, "r");
  const header = Buffer.alloc(numberAt + 4);
  const salts = Buffer.alloc(saltsBytes);
  const last = Buffer.alloc(frameHeaderBytes);
  const again = Buffer.alloc(frameHeaderBytes);
  fill(index, header, 0);
  const known = {
    commits: header.readUInt32LE(commitsAt),
    at: 0,
    frame: Buffer.alloc(frameHeaderBytes),
  };
  const number = Uint32Array.of(randomInt(2 ** 32));
  writeSync(index, number, 0, number.byteLength, numberAt);

  function fill(file: number, target: Buffer, at: number): boolean {
    return readSync(file, target, 0, target.length, at) === target.length;
  }

  /** Whether the salts in a buffer are those in the header of the index. */
  function hasSalts(buffer: Buffer, at: number): boolean {
    const end = indexSaltsAt + saltsBytes;
    return header.compare(buffer, at, at + saltsBytes, indexSaltsAt, end) === 0;
  }

  function isLogIntact(lastAt: number): boolean {
    const isEndThere =
      fill(log, salts, logSaltsAt) &&
      hasSalts(salts, 0) &&
      fill(log, last, lastAt) &&
      hasSalts(last, frameSaltsAt);
    if (!isEndThere || !hasSalts(known.frame, frameSaltsAt)) return isEndThere;
    return fill(log, again, known.at) && again.equals(known.frame);
  }

  function isIndexOverwritten(): boolean {
    if (!fill(index, header, 0) || header.readUInt32LE(numberAt) !== number[0]) return true;
    return ((header.readUInt32LE(commitsAt) - known.commits) | 0) < 0;
  }

  /** An older copy of the index has another number. Returns false if no file can be written now. */
  function renumber(): boolean {
    number[0]! += 1;
    try {
      writeSync(index, number, 0, number.byteLength, numberAt);
      return true;
    } catch {
      // A file system became read-only. The next check tries again, and the next commit says why it fails.
      number[0]! -= 1;
      return false;
    }
  }

  function findInLog(): "wal" | "walIndex" | undefined {
    if (isIndexOverwritten()) return "walIndex";
    // The two copies differ while another process commits. The next check decides.
    if (header.compare(header, 0, headerBytes, headerBytes, 2 * headerBytes) !== 0)
      return undefined;
    known.commits = header.readUInt32LE(commitsAt);
    const frames = header.readUInt32LE(16);
    if (frames === 0) return undefined;
    const pageBytes = header.readUInt16LE(14);
    const frameBytes = frameHeaderBytes + (pageBytes === 1 ? 65_536 : pageBytes);
    const lastAt = logHeaderBytes + (frames - 1) * frameBytes;
    if (isLogIntact(lastAt)) {
      if (!last.equals(known.frame) && renumber()) {
        known.at = lastAt;
        last.copy(known.frame);
      }
      return undefined;
    }
    // Another process may have begun the log again since the index was read.
    const before = Buffer.from(header);
    return fill(index, header, 0) && header.compare(before, 0, headerBytes, 0, headerBytes) !== 0
      ? undefined
      : "wal";
  }

  return { findInLog, isIndexOverwritten };
}

/** How long the database file may be unreadable, and how often it is read again. */
const unreadableMsMax = 500;
const readEveryMs = 20;

type Head = readonly [epoch: string, seq: number, keysVersion: number];

/**
 * With a log, only checkpoints write to the database file, and they replace pages only with newer ones.
 * The head in the file without its log therefore never moves back, and never passes the head of the
 * store. The file is read only when its time or its size has changed.
 */
function createHeadCheck(files: StoreFiles, database: Database): (found: Stats) => boolean {
  const headText = "SELECT epoch, seq, keys_version FROM head";
  const ofStore = database.query(headText);
  const toHead = ([epoch, seq, keysVersion]: unknown[]): Head => [
    epoch as string,
    Number(seq),
    Number(keysVersion),
  ];
  const rootPage = database.query("SELECT rootpage FROM sqlite_schema WHERE name = 'head'");
  const model = createModel(database);
  const pageBytes = model.length / 2;
  // Never closed: that would drop every lock that SQLite holds on the file in this process.
  const handle = openSync(files.database, "r");
  let checked = { mtimeMs: 0, size: 0 };
  let inFile: Head | undefined;

  /** Reads a page of the file into the model. */
  function readPage(number: number): void {
    const read = readSync(handle, model, pageBytes, pageBytes, (number - 1) * pageBytes);
    if (read < pageBytes) throw new Error("the page is not in the file");
  }

  /** Throws if the file has no head, for example while a checkpoint after VACUUM writes it. */
  function readFile(size: number): Head {
    readPage(1);
    const bytesInHeader = model.readUInt32BE(pageBytes + 28) * pageBytes;
    // VACUUM makes the file shorter too, but never shorter than its own header states.
    if (size < checked.size && size < bytesInHeader) throw new Error("the file was cut");
    readPage(Number(rootPage.values()[0]![0]));
    using copy = Database.deserialize(model);
    return toHead(copy.query(headText).values()[0]!);
  }

  function isPossible([epoch, seq, keysVersion]: Head): boolean {
    const [storeEpoch, storeSeq, storeKeysVersion] = toHead(ofStore.values()[0]!);
    if (seq > storeSeq || keysVersion > storeKeysVersion) return false;
    if (!inFile) return true;
    if (seq < inFile[1] || keysVersion < inFile[2]) return false;
    return epoch === inFile[0] || epoch === storeEpoch;
  }

  return (found) => {
    if (found.mtimeMs === checked.mtimeMs && found.size === checked.size) return false;
    let isWrong = false;
    for (let waitedMs = 0; waitedMs < unreadableMsMax; waitedMs += readEveryMs) {
      try {
        const { mtimeMs, size } = statSync(files.database);
        const head = readFile(size);
        if (isPossible(head)) {
          [checked, inFile] = [{ mtimeMs, size }, head];
          return false;
        }
        // Twice, because a page that is being written may be half old and half new.
        if (isWrong) return true;
        isWrong = true;
      } catch {
        // Tried again below.
      }
      Bun.sleepSync(readEveryMs);
    }
    return true;
  };
}

/**
 * A database of two pages, whose second page is the head. SQLite reads the head of another file from it
 * once that file's page is in its place: the file itself is not a complete database without its log,
 * because a checkpoint that stops for a reader leaves some pages older than others.
 */
function createModel(database: Database): Buffer {
  const [[bytes]] = database.query("PRAGMA page_size").values() as [[bigint]];
  const [[definition]] = database
    .query("SELECT sql FROM sqlite_schema WHERE name = 'head'")
    .values() as [[string]];
  using model = new Database(":memory:");
  model.run(`PRAGMA page_size = ${bytes}`);
  model.run(definition);
  return model.serialize();
}
