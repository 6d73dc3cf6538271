import { join, resolve } from "node:path";
import { listBackups } from "./backup/folder.ts";
import type { Config } from "./config.ts";
import { ServiceError } from "./domain/errors.ts";

/**
 * Opens a store, and creates it if it is missing. If the backup folder has backups of this environment,
 * a missing store was lost, and an empty one in its place would look as if all was well.
 */
export async function openOrCreate<T>(
  config: Config,
  open: (mayCreate: boolean) => Promise<T>,
): Promise<T> {
  const newest = await findNewestBackup(config);
  if (newest === undefined) return open(true);
  try {
    return await open(false);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
    const restore = `or restore its newest backup with petstore restore ${newest}`;
    const remedy = `${restore}; a new store needs another --backup-folder`;
    throw new ServiceError("unavailable", `${error.message}, ${remedy}`);
  }
}

/** The full path of the newest backup of this environment in the backup folder. */
export async function findNewestBackup({
  backupFolder,
  environment,
}: Config): Promise<string | undefined> {
  const path = resolve(backupFolder);
  const [newest] = await listBackups({ path, environment }, 1);
  return newest && join(path, newest.name);
}
