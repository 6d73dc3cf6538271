import type { Database } from "bun:sqlite";
import { openSync, readSync, type Stats, statSync } from "node:fs";
import type { StoreFiles } from "./files.ts";
import { type PageHead, parseHeadPage } from "./head-page.ts";

/**
 * What a database file contains. `unreadable` may be temporary: it also happens for a moment while a
 * checkpoint writes pages.
 */
export type Content = "ours" | "foreign" | "unreadable";

/** Detects a database file that was overwritten in place. */
export interface DatabaseCheck {
  /** Whether the file, as `stat` just found it, still contains this store. */
  check(found: Stats): Content;
  /** Whether the store shows an older state than before, because older files were copied back. */
  hasGoneBack(): boolean;
}

/**
 * With a write-ahead log only checkpoints write to the database file, and they move every page only
 * forward. The head in its page, read without the log, therefore never moves back, its epoch is never
 * an earlier one, and it never passes the store's head. Content that was copied over the file breaks
 * one of these rules.
 * The page is read only when the time or the size of the file has changed.
 */
export function createDatabaseCheck(files: StoreFiles, database: Database): DatabaseCheck {
  const currentHead = database.query("SELECT epoch, seq, at, keys_version FROM head");
  const laterEpoch = database.query(
    `SELECT 1 FROM epochs WHERE epoch = ?1
     AND number > (SELECT number FROM epochs WHERE epoch = ?2)`,
  );
  const anyEpoch = database.query("SELECT 1 FROM epochs WHERE epoch = ?");
  const rootPage = database.query("SELECT rootpage FROM sqlite_schema WHERE name = 'head'");
  const [[pageBytes]] = database.query("PRAGMA page_size").values() as [[number | bigint]];
  const page = Buffer.alloc(Number(pageBytes));
  // Never closed: that would drop every lock that SQLite holds on the file in this process.
  const handle = openSync(files.database, "r");
  /** The file when it last contained this store, and the head in its page then. */
  let checked: { mtimeMs: number; size: number } | undefined;
  let inFile: PageHead | undefined;
  /** The store's head when it was last read. */
  let lastHead: PageHead | undefined;

  function check(found: Stats): Content {
    try {
      if (found.mtimeMs === checked?.mtimeMs && found.size === checked.size) return "ours";
      if (found.size === 0) return "foreign";
      // VACUUM makes the file shorter too, but never shorter than its own header states.
      if (checked && found.size < checked.size && found.size < bytesInHeader()) {
        return "unreadable";
      }
      let head = readHeadInFile();
      // Read twice: a page that is being written may be half old and half new.
      if (checked && !isOurs(head)) head = readHeadInFile();
      if (checked && !isOurs(head)) return "foreign";
      checked = found;
      inFile = head;
      return "ours";
    } catch {
      return "unreadable";
    }
  }

  function bytesInHeader(): number {
    readSync(handle, page, 0, page.length, 0);
    return page.readUInt32BE(28) * page.length;
  }

  /** Undefined while the page is not in the file: a new store is only in its log. */
  function readHeadInFile(): PageHead | undefined {
    const number = Number(rootPage.values()[0]![0]);
    const read = readSync(handle, page, 0, page.length, (number - 1) * page.length);
    return read < page.length ? undefined : parseHeadPage(page);
  }

  function isOurs(head: PageHead | undefined): boolean {
    if (!head) return inFile === undefined;
    // First without SQLite, which may fail on a file that is not ours.
    if (inFile && !follows(head, inFile)) return false;
    const current = readHead();
    if (head.seq > current.seq || head.keysVersion > current.keysVersion) return false;
    if (head.epoch === current.epoch || head.epoch === inFile?.epoch) return true;
    // Imports and starts of the service may have begun epochs between the two. A new store was only
    // in its log when this process opened it, so any of its epochs may be the first in the file.
    const known = inFile
      ? laterEpoch.values(head.epoch, inFile.epoch)
      : anyEpoch.values(head.epoch);
    return known.length > 0;
  }

  function readHead(): PageHead {
    const row = currentHead.values()[0] as [string, ...(number | bigint)[]];
    const [epoch, seq, at, keysVersion] = row;
    return { epoch, seq: BigInt(seq!), at: BigInt(at!), keysVersion: BigInt(keysVersion!) };
  }

  function hasGoneBack(): boolean {
    try {
      const current = readHead();
      if (lastHead?.epoch === current.epoch && current.seq < lastHead.seq) return true;
      lastHead = current;
      return false;
    } catch {
      // A head that cannot be read proves nothing.
      return false;
    }
  }

  // Later states of the file are compared with the state in which this process opened it.
  check(statSync(files.database));
  return { check, hasGoneBack };
}

function follows(head: PageHead, before: PageHead): boolean {
  if (head.seq < before.seq || head.keysVersion < before.keysVersion) return false;
  return head.seq > before.seq || head.at === before.at;
}
