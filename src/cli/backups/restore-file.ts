import { existsSync, lstatSync, renameSync } from "node:fs";
import { link, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Manifest } from "../../backup/manifest.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { reasonOf } from "../../file-errors.ts";
import { createFolder, flush, flushFolder, scratchStore } from "../../folders.ts";
import { filesOf } from "../../store/sqlite/engine/files.ts";
import { isServed } from "../../store/sqlite/engine/serving-lock.ts";
import { beginChange } from "../interruption.ts";
import { printCreated } from "../store-command.ts";
import type { RestoreTo } from "./restored-store.ts";
import { inScratchFolder } from "./scratch.ts";

/**
 * Restores a backup to a SQLite file that does not exist. The scratch folder is beside the file, so
 * that the verified file only gets another name.
 */
export async function restoreToFile(restore: RestoreTo, path: string): Promise<Manifest> {
  assertFree(path);
  const parent = dirname(path);
  makeFolder(parent);
  return inScratchFolder(parent, async (folder) => {
    const scratch = join(folder, scratchStore);
    const { manifest } = await restore(scratch);
    const { wal, changes } = filesOf(scratch);
    // Closing the last connection moves the whole log into the file, unless the disk is full.
    if (existsSync(wal)) {
      const problem = "no space left on the device, or the disk reports an error";
      throw new ServiceError("unavailable", `cannot write to ${parent}: ${problem}`);
    }
    flush(scratch);
    assertFree(path);
    beginChange();
    await putInPlace(scratch, path);
    // The mark of an earlier store there would say that this one is too old.
    renameSync(changes, filesOf(path).changes);
    printCreated(path);
    return manifest;
  });
}

/** SQLite would apply a log that an earlier store has left to the restored file. */
function assertFree(path: string): void {
  const { wal, walIndex, journal } = filesOf(path);
  if (isServed(filesOf(path))) {
    throw new ServiceError("unavailable", `a service is running on ${path}; stop it first`);
  }
  const found = [path, wal, walIndex, journal].find((one) =>
    lstatSync(one, { throwIfNoEntry: false }),
  );
  if (found === undefined) return;
  const remedy = `move ${path} and ${path}-* away, or choose another --database`;
  throw new ServiceError("invalid_request", `${found} exists; ${remedy}`);
}

/** The file system has no hard links. */
const withoutLinks: readonly string[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Gives the file its name without replacing a file that appeared meanwhile. */
async function putInPlace(scratch: string, path: string): Promise<void> {
  try {
    await moveTo(scratch, path);
    flushFolder(dirname(path));
  } catch (error) {
    throw new ServiceError("unavailable", `cannot create ${path}: ${reasonOf(error)}`);
  }
}

async function moveTo(scratch: string, path: string): Promise<void> {
  try {
    await link(scratch, path);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (withoutLinks.includes(code)) return rename(scratch, path);
    throw error;
  }
  // A store must have exactly one name. A service that starts now may have removed this one.
  await rm(scratch, { force: true });
}

function makeFolder(path: string): void {
  try {
    createFolder(path);
  } catch (error) {
    throw new ServiceError("unavailable", `cannot create ${path}: ${reasonOf(error)}`);
  }
}
