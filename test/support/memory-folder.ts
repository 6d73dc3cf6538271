import { existsSync, mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";
const memoryBytesMin = 4 * 2 ** 30;

/**
 * The file system in memory, if there is one that has enough space and can hold programs; otherwise the
 * folder for temporary files. Tests make tens of thousands of small files, and on a disk that takes a
 * tenth of the processor time of a run.
 */
export function memoryFolder(): string {
  return hasSpace() && canHoldPrograms() ? memory : realpathSync(tmpdir());
}

function hasSpace(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= memoryBytesMin;
}

/** Containers may forbid it, or forbid any file. */
function canHoldPrograms(): boolean {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(memory, "petstore-tests-"));
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    return Bun.spawnSync([program]).success;
  } catch {
    return false;
  } finally {
    if (folder) rmSync(folder, { recursive: true });
  }
}
