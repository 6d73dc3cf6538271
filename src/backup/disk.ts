import { existsSync } from "node:fs";
import { lstat, open, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createFolder } from "../folders.ts";
import type { BackupBytes, BackupPlace, PlacedFile } from "./place.ts";

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
    exists: async (name) => existsSync(join(path, name)),
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

/** Empty if the folder does not exist yet, or cannot be read: the next backup says why. */
function namesIn(path: string): Promise<readonly string[]> {
  return readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(error.code ?? "")) return [];
    throw error;
  });
}

/** Undefined if somebody has removed it, or if it is not a file. */
async function lengthOf(path: string): Promise<number | undefined> {
  const file = await lstat(path).catch(() => undefined);
  return file?.isFile() ? file.size : undefined;
}

/** Returns false if somebody else has removed it, or if it is not a file. */
async function removeFile(path: string): Promise<boolean> {
  if ((await lengthOf(path)) === undefined) return false;
  return (await rm(path).catch(() => false)) !== false;
}
