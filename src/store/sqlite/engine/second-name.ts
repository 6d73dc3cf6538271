import { readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ServiceError } from "../../../domain/running/errors.ts";
import { flushFolder, scratchPrefix, scratchStore } from "../../../folders.ts";
import { filesOf } from "./files.ts";

/**
 * Rejects a store with a second name (a hard link). SQLite keeps one log per name, so changes made
 * through one name would destroy the others. Removes a second name that a restore has left: it gives
 * the store its name before it takes the one in the scratch folder away, and the power may fail in
 * between.
 */
export function assertOneName(path: string): void {
  if (countNames(path) === 1) return;
  const scratch = findScratchFolder(path);
  if (scratch !== undefined) {
    rmSync(scratch, { recursive: true, force: true });
    flushFolder(dirname(scratch));
    if (countNames(path) === 1) return;
  }
  throw new ServiceError(
    "unavailable",
    `${path} has a second name (a hard link); a store must have exactly one name`,
  );
}

function countNames(path: string): number {
  const found = statSync(path);
  return found.isFile() ? found.nlink : 1;
}

/** The scratch folder in which an interrupted restore has left a second name of this store. */
export function findScratchFolder(path: string): string | undefined {
  const { dev, ino } = statSync(path);
  const folder = dirname(filesOf(path).wal);
  return readdirSync(folder)
    .filter((name) => name.startsWith(scratchPrefix))
    .map((name) => join(folder, name))
    .find((scratch) => {
      const found = statSync(join(scratch, scratchStore), { throwIfNoEntry: false });
      return found?.dev === dev && found.ino === ino;
    });
}
