import type { BackupFile } from "../domain/operations/backups.ts";
import { clockErrorMsMax } from "../domain/operations/maintenance.ts";
import type { BackupPlace, PlacedFile } from "./place.ts";

/** The place with the backups that the service makes. Several environments may share it. */
export interface BackupFolder {
  readonly place: BackupPlace;
  readonly environment: string;
}

/** The name of a new backup that starts now, or a few seconds later if there is one of this second. */
export async function newBackupName(folder: BackupFolder, now: number): Promise<string> {
  for (let time = now; ; time += 1_000) {
    const name = backupName(folder, time);
    if (!(await folder.place.exists(name))) return name;
  }
}

/** The name of a backup that starts now, such as `production-20261116T014015Z.petstore`. */
function backupName({ environment }: BackupFolder, now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  return `${environment}-${time}.petstore`;
}

const timePattern = /^[a-z]+-(\d{8}T\d{6}Z)\.petstore$/;

/** The backups of this environment, the newest first, at most `filesMax`. */
export async function listBackups(
  { place, environment }: BackupFolder,
  filesMax: number,
): Promise<readonly BackupFile[]> {
  const files = await place.list(`${environment}-`, timePattern, filesMax);
  const toBackup = ({ name, bytes }: PlacedFile) => ({ name, bytes, createdAt: timeOf(name) });
  // Somebody may have made a name with a time that does not exist.
  const backups = files.map(toBackup).filter(({ createdAt }) => createdAt > 0);
  return backups.reverse();
}

/** The time in the name of a backup. */
function timeOf(name: string): number {
  const pattern = /^.*-(....)(..)(..)T(..)(..)(..)Z\.petstore$/;
  return Date.parse(name.replace(pattern, "$1-$2-$3T$4:$5:$6Z"));
}

/**
 * Removes all but the newest backups of this environment. Returns the number of removed files. Keeps
 * `latest` in any case. Those that are ahead of the store are kept too, and do not count. Backups with a
 * much later time than `latest` were made by a clock that was ahead and has been corrected. They count as
 * the oldest: otherwise they would take the places of new ones until then.
 */
export async function removeOldBackups(
  folder: BackupFolder,
  keep: number,
  latest: string,
  ahead: readonly string[],
): Promise<number> {
  const files = await listBackups(folder, Number.POSITIVE_INFINITY);
  const madeAt = files.find(({ name }) => name === latest)?.createdAt;
  const others = files.filter(({ name }) => name !== latest && !ahead.includes(name));
  const pastMax = (madeAt ?? Number.POSITIVE_INFINITY) + clockErrorMsMax;
  const past = others.filter(({ createdAt }) => createdAt <= pastMax);
  const future = others.filter(({ createdAt }) => createdAt > pastMax);
  const old = [...past, ...future].slice(Math.max(0, keep - 1));
  let removed = 0;
  for (const { name } of old) if (await folder.place.remove(name)) removed += 1;
  return removed;
}

/** Removes what a killed process has left of one backup. */
export async function removeUnfinished({ place }: BackupFolder, backup: string): Promise<void> {
  await place.removeUnfinished(backup, (name) => name === backup);
}

/**
 * Removes what killed processes have left of backups that started before a time. Another instance may
 * be making a later one.
 */
export async function removeAbandoned(folder: BackupFolder, before: number): Promise<void> {
  const first = backupName(folder, before);
  const isAbandoned = (name: string) => timePattern.test(name) && name < first;
  await folder.place.removeUnfinished(`${folder.environment}-`, isAbandoned);
}
