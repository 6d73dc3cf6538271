import { listBackups } from "../backup/folder.ts";
import { openPlace } from "../backup/locate.ts";
import { PlaceError } from "../backup/place.ts";
import { commandLine } from "../command-lines.ts";
import type { Config } from "../config.ts";
import type { BackupFile } from "../domain/operations/backups.ts";
import { clockErrorMsMax } from "../domain/operations/maintenance.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { settings } from "../settings.ts";
import { sqlitePath } from "./store-file.ts";

/**
 * Opens a store, and creates it if it is missing. If its backup folder has backups of this environment,
 * a missing store was lost, and an empty one in its place would look as if all was well.
 */
export async function openOrCreate<T>(
  config: Config,
  open: (mayCreate: boolean) => Promise<T>,
): Promise<T> {
  // A bucket that cannot be reached must not keep an existing store from being opened.
  const orProblem = (error: unknown) =>
    error instanceof PlaceError ? error : Promise.reject(error);
  const newest = hasOwnFolder(config) ? await findNewestBackup(config).catch(orProblem) : undefined;
  if (newest === undefined) return open(true);
  try {
    return await open(false);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
    if (newest instanceof PlaceError) {
      const problem = `a new one is not created while its backups are not known: ${newest.message}`;
      throw new ServiceError("unavailable", `${error.message}; ${problem}`);
    }
    const restore = `or restore its newest backup with ${commandLine(config, ["restore", newest])}`;
    const remedy = `${restore}; a new store needs another --backup-folder`;
    throw new ServiceError("unavailable", `${error.message}, ${remedy}`);
  }
}

/**
 * Whether the backups in the folder are those of this store: somebody chose the folder, or both are the
 * default. The default folder may have backups of another store that was started in the same place.
 */
function hasOwnFolder(config: Config): boolean {
  const { backupFolder, databaseUrl, environment } = config;
  if (backupFolder !== settings.backupFolder.default) return true;
  const usual = settings.databaseUrl.default.replace("<env>", environment);
  return sqlitePath({ databaseUrl }) === sqlitePath({ databaseUrl: usual });
}

/** Whether the folder has, or will have, backups of this store. */
export function hasOwnBackups(config: Config): boolean {
  return config.backupEveryMs !== undefined || hasOwnFolder(config);
}

/** The full path or address of the newest backup of this environment in the backup folder. */
export async function findNewestBackup(config: Config): Promise<string | undefined> {
  const { backupFolder, environment } = config;
  const place = openPlace(backupFolder, config);
  const backups = await listBackups({ place, environment }, Number.POSITIVE_INFINITY);
  // A name in the future was given by a wrong clock, and such a backup may be an old one.
  const isPast = ({ createdAt }: BackupFile) => createdAt <= Date.now() + clockErrorMsMax;
  const newest = backups.find(isPast) ?? backups[0];
  return newest && place.addressOf(newest.name);
}
