import { lstat, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { reasonOf } from "../file-errors.ts";
import { createFolder } from "../folders.ts";
import { type BackupBytes, type BackupPlace, type PlacedFile, PlaceError } from "./place.ts";

/** How a file is called until it is complete. */
const temporaryPattern = /^\.(.+)\.[0-9a-f-]{36}\.tmp$/;

/** A folder with backups. */
export function openFolder(path: string): BackupPlace {
  const addressOf = (name: string) => join(resolve(path), name);
  return {
    address: resolve(path),
    addressOf,
    // Only the owner may read backups. They contain stock, key digests and webhook secrets.
    prepare: () => createFolder(path),
    exists: async (name) => (await ifThere(stat(join(path, name)))) !== undefined,
    open: (name) => openFile(join(path, name)),
    async list(start, pattern, filesMax) {
      const isListed = (name: string) => name.startsWith(start) && pattern.test(name);
      const names = (await namesIn(path)).filter(isListed).sort().slice(-filesMax);
      const measure = async (name: string) => ({ name, bytes: await lengthOf(join(path, name)) });
      const files = await Promise.all(names.map(measure));
      return files.filter((file): file is PlacedFile => file.bytes !== undefined);
    },
    remove: (name) => removeFile(join(path, name)),
    async removeUnfinished(start, isAbandoned) {
      for (const name of await readdir(path)) {
        const [, backup = ""] = temporaryPattern.exec(name) ?? [];
        if (backup.startsWith(start) && isAbandoned(backup)) await removeFile(join(path, name));
      }
    },
  };
}

async function openFile(path: string): Promise<BackupBytes> {
  const handle = await open(path, "r");
  const { size } = await handle.stat();
  return {
    size,
    async read(start, length) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead);
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/**
 * What was found at a path. Undefined only if there is nothing: what this user may not see, or the disk cannot
 * read, may be a backup.
 */
async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new PlaceError(`cannot read ${path}: ${reasonOf(error)}`);
  }
}

/** None if the folder does not exist yet. A link to nothing may lead to a disk that is not mounted. */
async function namesIn(path: string): Promise<readonly string[]> {
  const names = await ifThere(readdir(path));
  if (names) return names;
  for (let at = resolve(path); !(await ifThere(stat(at))); at = dirname(at)) {
    // Anything but a link was made since the folder was read.
    if (!(await ifThere(lstat(at)))?.isSymbolicLink()) continue;
    throw new PlaceError(`cannot read ${path}: ${at} is a link to a folder that does not exist`);
  }
  return [];
}

/** Undefined if somebody has removed it, or if it is not a file. */
async function lengthOf(path: string): Promise<number | undefined> {
  const file = await ifThere(lstat(path));
  return file?.isFile() ? file.size : undefined;
}

/** Returns false if it stays, or if somebody else has removed it, or if it is not a file. */
async function removeFile(path: string): Promise<boolean> {
  if ((await lengthOf(path).catch(() => undefined)) === undefined) return false;
  return (await rm(path).catch(() => false)) !== false;
}
