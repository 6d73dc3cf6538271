import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";

/** The files of a store. SQLite puts its own beside the database, links resolved; so do we. */
export interface StoreFiles {
  /** The name the operator gave; it may be a link. */
  readonly database: string;
  /** The write-ahead log: acknowledged updates that are not in the database file yet. */
  readonly log: string;
  /** The log's index and its locks: how processes on one store see each other. */
  readonly index: string;
  /** Locked by the process that serves. */
  readonly claim: string;
  /** How a command tells the serving process that it has written. */
  readonly changes: string;
}

/** Key digests and stock are nobody else's to read, and locks nobody else's to hold. */
const privateMode = 0o600;
const privateFolderMode = 0o700;

/**
 * Creates the database file if there is none, makes every file of the store private, and names
 * them. The file must exist before its links can be resolved: a dangling link names no file yet.
 */
export function prepareFiles(path: string): StoreFiles {
  mkdirSync(dirname(path), { recursive: true, mode: privateFolderMode });
  // Only a file that does not exist is opened: closing it would drop every lock that SQLite holds
  // on it in this process.
  if (!statSync(path, { throwIfNoEntry: false })) createPrivate(path);
  const files = nameFiles(path);
  for (const file of Object.values(files)) makePrivate(file);
  return files;
}

/** Names the files of a store and touches none. */
export function nameFiles(path: string): StoreFiles {
  const real = existsSync(path) ? realpathSync(path) : path;
  return {
    database: path,
    log: `${real}-wal`,
    index: `${real}-shm`,
    claim: `${real}-serving`,
    changes: `${real}-changes`,
  };
}

/** Creates a file that only its owner can open, or leaves the one that is there. */
export function createPrivate(path: string): void {
  closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT, privateMode));
  makePrivate(path);
}

/** Takes everybody else's rights away, whatever the umask or an earlier version left. */
function makePrivate(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || (found.mode & 0o777) === privateMode) return;
  try {
    chmodSync(path, privateMode);
  } catch {
    // Another user's file: its owner decides, and opening it shows what is possible.
  }
}
