import * as fs from "node:fs";
import { dirname, resolve } from "node:path";
import { ServiceError } from "../../../domain/running/errors.ts";
import { createFolder, flushFolder } from "../../../folders.ts";

/** The files of a store. Side files are beside the database, with links resolved, as SQLite does. */
export interface StoreFiles {
  /** The path that the operator gave. It may be a link. */
  readonly database: string;
  /** The write-ahead log: acknowledged updates that are not in the database file yet. */
  readonly wal: string;
  /** The index of the log and its locks. SQLite maps it into the memory of every process. */
  readonly walIndex: string;
  /**
   * What a transaction has to undo if it does not end. It exists only while a store without a log is
   * written, such as a new one.
   */
  readonly journal: string;
  /** Locked by the process that serves the store. */
  readonly servingLock: string;
  /** Commands notify the serving process of their writes through this file. */
  readonly changes: string;
}

export type FileName = keyof StoreFiles;

/** Only the owner may read key digests and stock, or hold locks. */
const privateMode = 0o600;

/**
 * Creates the database file if it does not exist, makes every file of the store private, and
 * returns their paths. The file must exist before links are resolved, because a dangling link
 * resolves to nothing.
 */
export function prepareFiles(path: string): StoreFiles {
  createFolder(dirname(path));
  assertNothingLeft(path);
  // Only a file that does not exist is opened here: closing a handle of an existing one would drop
  // every lock that SQLite holds on it in this process.
  if (!fs.statSync(path, { throwIfNoEntry: false })) {
    createPrivate(path);
    // The name of the database is stored before that of any other file. Another file without a
    // database therefore shows that there was one.
    flushFolder(dirname(filesOf(path).wal));
  }
  const files = filesOf(path);
  for (const file of Object.values(files)) makePrivate(file);
  return files;
}

/**
 * Rejects the files of a store whose database file is gone. An empty store must not take its name, and
 * SQLite deletes the log of an empty database, with the last updates of a store.
 */
function assertNothingLeft(path: string): void {
  const { wal, servingLock, changes } = filesOf(path);
  // In this order: a process that creates the store makes the file first, then the lock, and fills the
  // file before it makes the others.
  const hasLog = hasContent(wal);
  const isLocked = fs.existsSync(servingLock);
  const isChanged = fs.existsSync(changes);
  const isGone = !fs.statSync(path, { throwIfNoEntry: false });
  if (hasContent(path)) return;
  if (hasLog) {
    throw new ServiceError(
      "unavailable",
      `${path} is missing or empty, but ${wal} has updates of a store; put the database file back, or move the -wal file away`,
    );
  }
  // An empty file beside the lock is a store whose creation was interrupted.
  if (!isChanged && !(isGone && isLocked)) return;
  const trace = isChanged ? changes : servingLock;
  throw new ServiceError(
    "unavailable",
    `${path} is missing or empty, but there was a store, which has left ${trace}; put the file back, restore a backup with petstore restore FILE, or move ${path}-* away to begin with an empty store`,
  );
}

export function hasContent(path: string): boolean {
  return (fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Returns the paths of a store's files without touching them. */
export function filesOf(path: string): StoreFiles {
  const real = realPathOf(path);
  return {
    database: path,
    wal: `${real}-wal`,
    walIndex: `${real}-shm`,
    journal: `${real}-journal`,
    servingLock: `${real}-serving`,
    changes: `${real}-changes`,
  };
}

/** The path of the database file, with links resolved. */
export function realPathOf(path: string): string {
  return fs.existsSync(path) ? fs.realpathSync(path) : targetOf(path);
}

/** Where a link leads whose target is gone. The other files of the store are beside the target. */
function targetOf(path: string): string {
  const isLink = fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolve(dirname(path), fs.readlinkSync(path)) : path;
}

/** Creates a file that only its owner can open. An existing file keeps its content. */
export function createPrivate(path: string): void {
  fs.closeSync(fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, privateMode));
  makePrivate(path);
}

/** Removes the rights of other users, which the umask or an earlier version may have left. */
function makePrivate(path: string): void {
  const found = fs.statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || (found.mode & 0o777) === privateMode) return;
  try {
    fs.chmodSync(path, privateMode);
  } catch {
    // The file belongs to another user. Opening it will show what is possible.
  }
}
