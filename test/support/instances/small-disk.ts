import { mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, in memory, that can be filled. */
export interface SmallDisk {
  readonly folder: string;
  fill(): void;
  empty(): void;
  leave(): void;
}

/** Enough for a server with little of its log. */
const size = "256m";

/** Undefined where this process may not mount: that needs root. */
export function mountSmallDisk(): SmallDisk | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "petstore-small-disk-"));
  const run = (...command: string[]) => Bun.spawnSync(command).exitCode === 0;
  if (!run("mount", "-t", "tmpfs", "-o", `size=${size},mode=755`, "tmpfs", folder)) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const filler = join(folder, "filler");
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(filler, Buffer.alloc(bavail * bsize));
      } catch {
        // The server was faster with the last pages.
      }
    },
    empty: () => rmSync(filler, { force: true }),
    leave() {
      run("umount", "-l", folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
