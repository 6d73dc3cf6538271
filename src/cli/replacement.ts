import { randomUUID } from "node:crypto";
import { lstatSync, readlinkSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Only the owner may read what an operator takes out of the store, whatever the umask says. */
const privateMode = 0o600;

/**
 * Writes a file whole or not at all: into a file of another name in the same folder, which takes
 * the name only when everything is on disk. Until then the old file, if there is one, stays.
 */
export async function replaceFile(
  path: string,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const target = followLinks(path);
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  const file = await open(temporary, "wx", privateMode);
  const remove = () => rmSync(temporary, { force: true });
  const stopListening = onSignals(remove);
  try {
    await file.chmod(privateMode);
    await write(file);
    await file.sync();
    await file.close();
    await rename(temporary, target);
  } catch (error) {
    await file.close().catch(() => {});
    remove();
    throw error;
  } finally {
    stopListening();
  }
}

/** Whether something other than a file has the name: a device or a pipe is written, not replaced. */
export function isSpecial(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile();
}

/** A link goes on leading to the file; what is replaced is the file. */
function followLinks(path: string): string {
  const linksMax = 40;
  let target = resolve(path);
  for (let links = 0; links < linksMax; links++) {
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  return target;
}

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** Tidies up before a signal ends the process; gives what takes that back. */
function onSignals(tidy: () => void): () => void {
  const names = Object.keys(signals) as (keyof typeof signals)[];
  const onSignal = (signal: NodeJS.Signals) => {
    tidy();
    process.exit(128 + signals[signal as keyof typeof signals]);
  };
  for (const name of names) process.on(name, onSignal);
  return () => {
    for (const name of names) process.off(name, onSignal);
  };
}
