import { Database } from "bun:sqlite";
import { openSync, readSync, type Stats, statSync } from "node:fs";
import type { StoreFiles } from "./files.ts";

/** How long the database file may be unreadable, and how often it is read again. */
const unreadableMsMax = 500;
const readEveryMs = 20;

type Head = readonly [epoch: string, seq: number, keysVersion: number];

/**
 * Finds that the database file was truncated or overwritten in place. Only for the process that serves the
 * store, on its writing thread.
 *
 * With a log, only WAL checkpoints write to the database file, and they replace pages only with newer ones.
 * The head in the file without its log therefore never moves back, and never passes the head of the
 * store. The file is read only when its time or its size has changed.
 */
export function createHeadCheck(files: StoreFiles, database: Database): (found: Stats) => boolean {
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

  /** Throws if the file has no head, for example while a WAL checkpoint after VACUUM writes it. */
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
 * because a WAL checkpoint that stops for a reader leaves some pages older than others.
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
