import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../domain/errors.ts";
import { reasonOf } from "../file-errors.ts";
import { onInterrupt } from "./interruption.ts";

/**
 * Runs `work` in a new, private folder inside `parent`. The folder is removed in any case, also when a
 * signal ends the process.
 */
export async function inScratchFolder<T>(
  parent: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await createFolder(parent);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const stopListening = onInterrupt(remove);
  try {
    return await work(folder);
  } finally {
    stopListening();
    remove();
  }
}

async function createFolder(parent: string): Promise<string> {
  try {
    return await mkdtemp(join(parent, ".petstore-scratch-"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "no such folder" : reasonOf(error);
    throw new ServiceError("invalid_request", `cannot write to ${parent}: ${reason}`);
  }
}
