import type { HistoryReader } from "../domain/ledger/store.ts";
import type { BackupFile } from "../domain/operations/backups.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { type BackupPlace, PlaceError } from "./place.ts";
import { readManifest } from "./reader.ts";

/**
 * The names of the files that are ahead of a store, in their order: they end with a ledger row that the
 * store does not have. The store was lost, replaced, or restored from an earlier backup, and such a
 * backup may be the only copy of updates.
 */
export async function listAhead(
  place: BackupPlace,
  files: readonly BackupFile[],
  hasRow: HistoryReader["hasRow"],
): Promise<readonly string[]> {
  const ahead: string[] = [];
  for (const { name } of files) {
    const source = { address: place.addressOf(name), open: () => place.open(name) };
    const manifest = await readManifest(source).catch(ofDamaged);
    if (manifest && !(await hasRow(manifest.seq, manifest.hash))) ahead.push(name);
  }
  return ahead;
}

/** A damaged file cannot be restored, so nothing is lost with it. Other errors say nothing about the file. */
function ofDamaged(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error instanceof PlaceError) throw error;
}
