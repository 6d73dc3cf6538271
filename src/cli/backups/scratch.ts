import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isBucketAddress } from "../../backup/bucket.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { creationReasonOf } from "../../file-errors.ts";
import { scratchPrefix } from "../../folders.ts";
import type { SettingName } from "../../settings.ts";
import { storeSettings } from "../command.ts";
import { onInterrupt } from "../interruption.ts";

/** The operand of a command that reads a backup. */
export const backupFile = [
  { name: "FILE", description: "Backup that petstore made: a path, or s3://…/NAME." },
] as const;

/** The settings of a command that writes or reads backups. */
export const backupSettings: readonly SettingName[] = [...storeSettings, "backupKeyFile"];

/** Where the scratch folder is unless given: beside a backup on this machine, otherwise here. */
export function scratchParentOf(file: string): string {
  return isBucketAddress(file) ? process.cwd() : dirname(resolve(file));
}

/**
 * Runs `work` in a new, private folder inside `parent`. The folder is removed in any case, also when a
 * signal ends the process.
 */
export async function inScratchFolder<T>(
  parent: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  // Synchronous, so that no signal arrives between this and the next lines.
  const folder = createScratchFolder(parent);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const stopListening = onInterrupt(remove);
  try {
    return await work(folder);
  } finally {
    stopListening();
    remove();
  }
}

function createScratchFolder(parent: string): string {
  try {
    return mkdtempSync(join(parent, scratchPrefix));
  } catch (error) {
    const reason = creationReasonOf(error);
    throw new ServiceError("invalid_request", `cannot write to ${parent}: ${reason}`);
  }
}
