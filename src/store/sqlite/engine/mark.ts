import type { Database } from "bun:sqlite";
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { ServiceError } from "../../../domain/running/errors.ts";
import { guarded, openForReading } from "./connection.ts";
import { filesOf, hasContent } from "./files.ts";

/**
 * The mark of a store: the last acknowledged row, as of a tenth of a second ago. It is written after that row
 * is on the disk, so a store that ends before its mark has lost rows: its log was deleted after a kill, or
 * an older copy took its place. SQLite opens such a store without an error.
 *
 * The mark is in the file of the change signal, after the state of that signal. It is never flushed: after
 * a power loss it may be older, or missing, and then less is noticed.
 */
interface Mark {
  /** The first epoch of the store. Copies of a store have it in common. */
  readonly first: string;
  readonly epoch: string;
  readonly seq: number;
}

/** The state of the change signal. */
export const stateBytes = 16;
/** State and mark. A disk writes a sector of 512 bytes as a whole. */
export const headerBytes = 512;
const markBytes = headerBytes - stateBytes;
const checksumLength = 8;

function checksumOf(text: string): string {
  return Bun.hash.crc32(text).toString(16).padStart(checksumLength, "0");
}

/** Returns a function that returns the mark of the store as it is now, and the last row that it names. */
export function createMarkReader(database: Database): () => readonly [seq: number, mark: string] {
  const head = database.query(
    "SELECT (SELECT epoch FROM epochs ORDER BY number LIMIT 1), epoch, seq FROM head",
  );
  return () => {
    const [first, epoch, row] = head.values()[0]!;
    const seq = Number(row);
    const text = JSON.stringify({ first, epoch, seq });
    return [seq, `${checksumOf(text)}${text}`.padEnd(markBytes)];
  };
}

/** Clears the file but for the mark. A process that was killed leaves the state "serving" in it. */
export function resetSignal(changes: string): void {
  const handle = openSync(changes, "r+");
  ftruncateSync(handle, headerBytes);
  writeSync(handle, new Uint8Array(stateBytes), 0, stateBytes, 0);
  closeSync(handle);
}

export function writeMark(handle: number, mark: string): void {
  writeSync(handle, mark, stateBytes);
}

/** Returns undefined if there is no mark, or only a part of one. */
function readMark(file: string): Mark | undefined {
  if (!hasContent(file)) return undefined;
  const bytes = Buffer.alloc(markBytes);
  const handle = openSync(file, "r");
  try {
    readSync(handle, bytes, 0, markBytes, stateBytes);
  } finally {
    closeSync(handle);
  }
  const text = bytes.toString().trimEnd();
  const content = text.slice(checksumLength);
  return text.startsWith(checksumOf(content)) ? JSON.parse(content) : undefined;
}

/** The acknowledged rows that a store does not have. */
export interface LostRows {
  /** The last acknowledged row that the store has. */
  readonly found: number;
  readonly acknowledged: number;
}

/** How long to wait while another process recovers the store. */
const busyWaitMs = 8_000;

/**
 * Compares a store with its mark: the rows that it lacks, undefined if none, and "unmarked" if there is
 * no mark. A store of other epochs, such as one from another machine, is not compared.
 */
export const findLostRows = guarded((path: string): LostRows | "unmarked" | undefined => {
  // Before the store is read: its service may add rows meanwhile.
  const mark = readMark(filesOf(path).changes);
  if (!mark) return "unmarked";
  using database = openForReading(path, busyWaitMs);
  // The first versions kept no history of epochs.
  const hasEpochs = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'epochs'");
  if (!hasEpochs.get()) return undefined;
  // If the mark's epoch has ended, the store has only those of its rows that are before the next one.
  const [reached, isKnown, first] = database
    .query(
      `SELECT coalesce(
         (SELECT min(from_seq) FROM epochs
           WHERE number > (SELECT number FROM epochs WHERE epoch = ?1)), seq),
         EXISTS (SELECT 1 FROM epochs WHERE epoch = ?1),
         (SELECT epoch FROM epochs ORDER BY number LIMIT 1) FROM head`,
    )
    .values(mark.epoch)[0]!;
  const found = Number(reached);
  const isSameStore = isKnown === 1n || first === mark.first;
  return isSameStore && found < mark.seq ? { found, acknowledged: mark.seq } : undefined;
});

/** What a store lacks, for a person. */
export function describeLostRows({ found, acknowledged }: LostRows): string {
  const count = acknowledged - found;
  const missing = count === 1 ? "1 update is missing" : `${count} updates are missing`;
  return `the store has the ledger up to row ${found}, but row ${acknowledged} was acknowledged: ${missing}`;
}

export const lostRowsAdvice =
  "the -wal file was deleted, or an older copy took the place of the database: put the right files back or restore a backup";

/**
 * Rejects a store that lacks acknowledged rows. `accepted` names the last row that was found, so that it
 * accepts one loss and not the next one. Returns the loss that it accepted.
 */
export function assertNoLostRows(
  path: string,
  accepted?: number,
): LostRows | "unmarked" | undefined {
  const lost = hasContent(path) ? findLostRows(path) : undefined;
  if (lost === undefined || lost === "unmarked" || lost.found === accepted) return lost;
  throw new ServiceError(
    "unavailable",
    `${path}: ${describeLostRows(lost)}; ${lostRowsAdvice}, or go on without them with petstore serve --accept-older=${lost.found}`,
  );
}
