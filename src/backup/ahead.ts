import type { HistoryReader } from "../domain/ledger/store.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { type BackupFolder, listBackups } from "./folder.ts";
import { PlaceError } from "./place.ts";
import { readManifest } from "./reader.ts";

/**
 * The names of the backups that are ahead of a store, the newest first: they end with a ledger row that
 * the store does not have. The store was lost, replaced, or restored from an earlier backup, and such a
 * backup may be the only copy of updates.
 */
export async function listAhead(
  folder: BackupFolder,
  hasRow: HistoryReader["hasRow"],
): Promise<readonly string[]> {
  const ahead: string[] = [];
  for (const { name } of await listBackups(folder, Number.POSITIVE_INFINITY)) {
    const source = { address: folder.place.addressOf(name), open: () => folder.place.open(name) };
    const manifest = await readManifest(source).catch(ofDamaged);
    if (manifest && !(await hasRow(manifest.seq, manifest.hash))) ahead.push(name);
  }
  return ahead;
}

/** A damaged file cannot be restored, so nothing is lost with it. Other errors say nothing about the file. */
function ofDamaged(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error instanceof PlaceError) throw error;
}
