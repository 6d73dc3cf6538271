// Real file systems: one that is full, and one that the kernel makes read-only.
import { spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import type { Workspace } from "../../test/support/process.ts";
import { clientsCount } from "../load.ts";
import type { Round } from "../part.ts";
import { createSite, withLoad } from "./site.ts";

/** Whether this process may mount. It tries, in a namespace that ends with the attempt. */
export const canMount = () =>
  spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]).status === 0;

/** Runs a program. Throws with what it printed if it fails. */
function run(...words: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(words[0]!, words.slice(1), {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${words.join(" ")}: ${error?.message ?? stderr.trim()}`);
  return stdout.trim();
}

/** Mounts a file system for the work. Where that is impossible, a figure says why. */
async function withMount(
  round: Round,
  name: string,
  mount: (folder: string) => void,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = join(round.folder, "mounted");
  mkdirSync(folder);
  try {
    mount(folder);
  } catch (error) {
    round.figure(name, `not tried: ${(error as Error).message}`);
    return;
  }
  try {
    await work(folder);
    round.figure(name, "tried");
  } finally {
    // Lazily: a process that is still ending must not keep it. It may be unmounted already.
    spawnSync("umount", ["--lazy", folder]);
  }
}

/** Writes a file until no space is left, apart from some pages. */
function fill(path: string, pagesLeft: number): void {
  const file = openSync(path, "w");
  const page = Buffer.alloc(4096);
  let bytes = 0;
  try {
    for (;;) bytes += writeSync(file, page);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
  truncateSync(path, Math.max(0, bytes - pagesLeft * page.length));
}

/** A small file system becomes full under load, and has space again. */
export function fillFileSystem(round: Round, place: Workspace): Promise<void> {
  const { random, isShort } = round;
  let mebibytes = 48;
  const mount = (folder: string) =>
    void run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder);
  return withMount(round, "a full file system", mount, async (folder) => {
    const site = await createSite(place, join(folder, "data"));
    await withLoad(round, site, {
      ms: isShort ? 1_000 : 6_000,
      async work(isOver, answers) {
        do {
          await Bun.sleep(random.below(400));
          const ballast = join(folder, "ballast");
          fill(ballast, random.pick([0, 0, 3, 40]));
          round.faults(1);
          await Bun.sleep(200 + random.below(600));
          if (random.chance(0.5)) {
            mebibytes += 16;
            run("mount", "-o", `remount,size=${mebibytes}m`, folder);
          } else rmSync(ballast);
          await answers.recover("a full file system");
        } while (!isOver());
      },
    });
  });
}

/** An error of the disk makes a file system read-only under load, until it is mounted again. */
export function stopWrites(round: Round, place: Workspace): Promise<void> {
  const { random, isShort } = round;
  const image = join(round.folder, "image");
  const mountAgain = (folder: string) =>
    void run("mount", "-o", "loop,errors=remount-ro", image, folder);
  const mount = (folder: string) => {
    writeFileSync(image, "");
    truncateSync(image, 96 * 1024 * 1024);
    run("mkfs.ext4", "-q", "-F", image);
    mountAgain(folder);
  };
  return withMount(round, "a read-only file system", mount, async (folder) => {
    const site = await createSite(place, join(folder, "data"));
    await withLoad(round, site, {
      ms: isShort ? 1_000 : 3_000,
      async work(isOver, _answers, _baseUrl, gate) {
        await Bun.sleep(200 + random.below(500));
        // Linux may report a flush as done that was under way when the error came, though its data is lost.
        gate.close();
        await Promise.race([gate.hasStopped(clientsCount), Bun.sleep(5_000)]);
        const device = basename(run("findmnt", "-no", "SOURCE", folder));
        if (!/^loop\d+$/.test(device)) throw new Error(`${device} is not a loop device`);
        writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, "petstore survive");
        gate.open();
        round.faults(1);
        while (!isOver()) await Bun.sleep(20);
      },
      async mend() {
        run("umount", folder);
        mountAgain(folder);
      },
    });
  });
}
