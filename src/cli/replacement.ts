import { randomUUID } from "node:crypto";
import { lstatSync, readlinkSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { invalidRequest, ServiceError } from "../domain/running/errors.ts";
import { creationReasonOf } from "../file-errors.ts";
import { flushFolder } from "../folders.ts";
import { onInterrupt } from "./interruption.ts";

/** Only the owner can read an exported file, whatever the umask is. */
const privateMode = 0o600;

/**
 * Replaces a file atomically. Writes to a temporary file in the same folder, flushes it, and renames
 * it. If writing fails, an existing file is unchanged. Returns what `write` returns.
 */
export async function replaceFile<T>(
  path: string,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  try {
    return await replaceTarget(followLinks(path), write);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof ServiceError) throw error;
    throw invalidRequest(`cannot write ${path}: ${creationReasonOf(error)}`);
  }
}

async function replaceTarget<T>(
  target: string,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  const remove = () => rmSync(temporary, { force: true });
  // Before the file exists: a signal may arrive as soon as it does.
  const stopListening = onInterrupt(remove);
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, "wx", privateMode);
    await file.chmod(privateMode);
    const result = await write(file);
    await file.sync();
    await file.close();
    await rename(temporary, target);
    flushFolder(dirname(target));
    return result;
  } catch (error) {
    await file?.close().catch(() => {});
    remove();
    throw error;
  } finally {
    stopListening();
  }
}

/** True for a device or a pipe, which is written to and not replaced. */
export function isSpecial(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile();
}

/** Resolves symbolic links, so that the file is replaced and not the link to it. */
function followLinks(path: string): string {
  const linksMax = 40;
  let target = resolve(path);
  for (let links = 0; links < linksMax; links++) {
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  return target;
}
