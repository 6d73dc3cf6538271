import type { Database } from "bun:sqlite";
import { openSync, readSync, type Stats, statSync } from "node:fs";
import type { StoreFiles } from "./files.ts";
import { type PageHead, parseHeadPage } from "./head-page.ts";

/** `doubtful`: it cannot be read, which also happens for a moment while pages are moved into it. */
export type Verdict = "whole" | "foreign" | "doubtful";

export interface ContentCheck {
  /** Whether the database file, as it was just found, still holds this store. */
  judge(found: Stats): Verdict;
  /** Whether the store shows an older state than it has shown before: files were put back. */
  hasGoneBack(): boolean;
}

/**
 * Recognises a database file that was overwritten in place. With a write-ahead log only checkpoints
 * write to the file, and they bring every page only forward: the head in its page, read without the
 * log, never goes back, never passes the store's own head, and has its epoch. What somebody copied
 * over it breaks one of these. The page is read only when the file's time or size has changed.
 */
export function createContentCheck(files: StoreFiles, database: Database): ContentCheck {
  const liveHead = database.query("SELECT epoch, seq, at, keys_version FROM head");
  const rootPage = database.query("SELECT rootpage FROM sqlite_schema WHERE name = 'head'");
  const [[pageBytes]] = database.query("PRAGMA page_size").values() as [[number | bigint]];
  const page = Buffer.alloc(Number(pageBytes));
  // Never closed: that would drop every lock that SQLite holds on the file in this process.
  const handle = openSync(files.database, "r");
  /** The file as it was when it was last found whole, and the head it then held. */
  let judged: { mtimeMs: number; size: number } | undefined;
  let inFile: PageHead | undefined;
  /** The store's head when it was last looked at. */
  let shown: PageHead | undefined;

  function judge(found: Stats): Verdict {
    try {
      if (found.mtimeMs === judged?.mtimeMs && found.size === judged.size) return "whole";
      if (found.size === 0) return "foreign";
      // VACUUM makes a file shorter too, but no shorter than the file itself says it is.
      if (judged && found.size < judged.size && found.size < bytesByHeader()) return "doubtful";
      let head = headInFile();
      // Once more: a page that is being written may be read half old and half new.
      if (judged && !isOurs(head)) head = headInFile();
      if (judged && !isOurs(head)) return "foreign";
      judged = found;
      inFile = head;
      return "whole";
    } catch {
      return "doubtful";
    }
  }

  function bytesByHeader(): number {
    readSync(handle, page, 0, page.length, 0);
    return page.readUInt32BE(28) * page.length;
  }

  /** Undefined as long as the page is not in the file: a new store is in its log alone. */
  function headInFile(): PageHead | undefined {
    const number = Number(rootPage.values()[0]![0]);
    const read = readSync(handle, page, 0, page.length, (number - 1) * page.length);
    return read < page.length ? undefined : parseHeadPage(page);
  }

  function isOurs(head: PageHead | undefined): boolean {
    if (!head) return inFile === undefined;
    // First without SQLite, which may trip over a file that is not ours.
    if (inFile && !follows(head, inFile)) return false;
    const live = readLive();
    if (head.seq > live.seq || head.keysVersion > live.keysVersion) return false;
    return head.epoch === live.epoch || head.epoch === inFile?.epoch;
  }

  function readLive(): PageHead {
    const row = liveHead.values()[0] as [string, ...(number | bigint)[]];
    const [epoch, seq, at, keysVersion] = row;
    return { epoch, seq: BigInt(seq!), at: BigInt(at!), keysVersion: BigInt(keysVersion!) };
  }

  function hasGoneBack(): boolean {
    try {
      const live = readLive();
      if (shown?.epoch === live.epoch && live.seq < shown.seq) return true;
      shown = live;
      return false;
    } catch {
      // What cannot be read shows nothing.
      return false;
    }
  }

  // The file as it was opened is what later ones are compared with.
  judge(statSync(files.database));
  return { judge, hasGoneBack };
}

function follows(head: PageHead, before: PageHead): boolean {
  if (head.seq < before.seq || head.keysVersion < before.keysVersion) return false;
  return head.seq > before.seq || head.at === before.at;
}
