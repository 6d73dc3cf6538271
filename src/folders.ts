import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Only the owner may open a folder with a store or with backups. */
const privateMode = 0o700;

/** A backup is first restored and checked in a folder whose name begins with this. */
export const scratchPrefix = ".petstore-scratch-";
/** The name of the store in it. */
export const scratchStore = "store.db";

/**
 * Creates a folder and those above it that are missing. Flushes the name of each new one, because a
 * power loss may otherwise undo it, with everything that was stored in the folder.
 */
export function createFolder(path: string): void {
  const folder = resolve(path);
  const first = mkdirSync(folder, { recursive: true, mode: privateMode });
  if (first === undefined) return;
  for (let created = folder; created.length >= first.length; created = dirname(created)) {
    flushFolder(dirname(created));
  }
}

/** The file system cannot flush a folder, or this user may not open it. */
const cannotFlush: readonly string[] = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EISDIR", "EACCES"];

/** Flushes a file, or the names in a folder. */
export function flush(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Flushes the names in a folder. Throws if the disk reports an error: a name may be lost. */
export function flushFolder(path: string): void {
  try {
    flush(path);
  } catch (error) {
    if (!cannotFlush.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
