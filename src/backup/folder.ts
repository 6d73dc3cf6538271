import { lstat, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { BackupFile } from "../domain/operations/backups.ts";
import { clockErrorMsMax } from "../domain/operations/maintenance.ts";

/** The folder with the backups that the service makes. Several environments may share it. */
export interface BackupFolder {
  readonly path: string;
  readonly environment: string;
}

/** The path of a new backup that starts now, or a few seconds later if there is one of this second. */
export async function newBackupPath(folder: BackupFolder, now: number): Promise<string> {
  for (let time = now; ; time += 1_000) {
    const path = backupPath(folder, time);
    if ((await lengthOf(path)) === undefined) return path;
  }
}

/** The path of a backup that starts now, such as `production-20261116T014015Z.petstore`. */
function backupPath({ path, environment }: BackupFolder, now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  return join(path, `${environment}-${time}.petstore`);
}

const timePattern = "\\d{8}T\\d{6}Z";

/** The backups of this environment, the newest first, at most `filesMax`. */
export async function listBackups(
  { path, environment }: BackupFolder,
  filesMax: number,
): Promise<readonly BackupFile[]> {
  const pattern = new RegExp(`^${environment}-(${timePattern})\\.petstore$`);
  const names = (await namesIn(path)).filter((name) => pattern.test(name)).sort();
  const files = names.slice(-filesMax).map(async (name): Promise<BackupFile | undefined> => {
    const bytes = await lengthOf(join(path, name));
    const createdAt = parseTime(pattern.exec(name)![1]!);
    return bytes === undefined ? undefined : { name, bytes, createdAt };
  });
  return (await Promise.all(files)).filter((file) => file !== undefined).reverse();
}

/** Empty if the folder does not exist yet, or cannot be read: the next backup says why. */
async function namesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(code)) return [];
    throw error;
  }
}

/** Undefined if somebody has removed it, or if it is not a file. */
async function lengthOf(path: string): Promise<number | undefined> {
  try {
    const file = await lstat(path);
    return file.isFile() ? file.size : undefined;
  } catch {
    return undefined;
  }
}

/** The time in a name, such as 20261116T014015Z. */
function parseTime(text: string): number {
  return Date.parse(text.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
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
  const madeAt = files.find(({ name }) => name === basename(latest))?.createdAt;
  const others = files.filter(({ name }) => name !== basename(latest) && !ahead.includes(name));
  const pastMax = (madeAt ?? Number.POSITIVE_INFINITY) + clockErrorMsMax;
  const past = others.filter(({ createdAt }) => createdAt <= pastMax);
  const future = others.filter(({ createdAt }) => createdAt > pastMax);
  const old = [...past, ...future].slice(Math.max(0, keep - 1));
  let removed = 0;
  for (const { name } of old) if (await removeFile(join(folder.path, name))) removed += 1;
  return removed;
}

/** How a file is called until it is complete, for a name that may be a pattern. */
const temporaryPattern = (name: string) => new RegExp(`^\\.${name}\\.[0-9a-f-]{36}\\.tmp$`);

/** Removes what a killed process has left of one backup. */
export async function removeUnfinished({ path }: BackupFolder, backup: string): Promise<void> {
  const pattern = temporaryPattern(RegExp.escape(basename(backup)));
  for (const name of await readdir(path))
    if (pattern.test(name)) await removeFile(join(path, name));
}

/**
 * Removes what killed processes have left of backups that started before a time. Another instance may
 * be making a later one.
 */
export async function removeAbandoned(folder: BackupFolder, before: number): Promise<void> {
  const pattern = temporaryPattern(`${folder.environment}-${timePattern}\\.petstore`);
  const first = `.${basename(backupPath(folder, before))}`;
  for (const name of await readdir(folder.path)) {
    if (pattern.test(name) && name < first) await removeFile(join(folder.path, name));
  }
}

/** Returns false if somebody else has removed it, or if it is not a file. */
async function removeFile(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isFile()) return false;
    await rm(path);
    return true;
  } catch {
    return false;
  }
}
