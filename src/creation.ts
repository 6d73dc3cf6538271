import { dirname, join, resolve } from "node:path";
import { listBackups } from "./backup/folder.ts";
import type { Config } from "./config.ts";
import { ServiceError } from "./domain/errors.ts";
import { settings } from "./settings.ts";
import { sqlitePath } from "./store-file.ts";

/**
 * Opens a store, and creates it if it is missing. If its backup folder has backups of this environment,
 * a missing store was lost, and an empty one in its place would look as if all was well.
 */
export async function openOrCreate<T>(
  config: Config,
  open: (mayCreate: boolean) => Promise<T>,
): Promise<T> {
  const newest = hasOwnFolder(config) ? await findNewestBackup(config) : undefined;
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

/**
 * Whether the backups in the folder are those of this store: somebody chose the folder, or the store is
 * beside it. The default folder may have backups of another store that was started in the same place.
 */
function hasOwnFolder(config: Config): boolean {
  const { backupFolder } = config;
  if (backupFolder !== settings.backupFolder.default) return true;
  const path = sqlitePath(config);
  return path !== undefined && dirname(resolve(path)) === dirname(resolve(backupFolder));
}

/** Whether the folder has, or will have, backups of this store. */
export function hasOwnBackups(config: Config): boolean {
  return config.backupEveryMs !== undefined || hasOwnFolder(config);
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
