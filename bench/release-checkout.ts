// Provides the code of a release with its dependencies. It is kept in dist/, which git ignores.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./processes.ts";
import { commitOf } from "./releases.ts";

const root = dirname(import.meta.dir);

/** Returns the folder of a release. The first call copies it out of git and installs its packages. */
export async function checkoutOf(release: string): Promise<string> {
  const commit = commitOf(release);
  const folder = join(root, "dist/releases", release);
  if (existsSync(folder)) return folder;
  await checkCommit(release, commit);
  console.error(`  installing ${release} in dist/releases …`);
  // Renamed when it is complete, so that an interrupted installation is never used.
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  // A copy, not a worktree: git would remember a worktree after its folder is deleted. It has no tests,
  // because npm test would find and run them.
  const archive = join(partial, "release.tar");
  const copy = ["git", "archive", "--format=tar", `--output=${archive}`, commit];
  await run([...copy, ".", ":(exclude,glob)**/*.test.ts"], { cwd: root });
  await run(["tar", "-xf", archive, "-C", partial]);
  rmSync(archive);
  await run(["npm", "ci", "--omit=dev", "--no-audit", "--no-fund"], { cwd: partial });
  renameSync(partial, folder);
  return folder;
}

async function checkCommit(release: string, commit: string): Promise<void> {
  try {
    await run(["git", "cat-file", "-e", `${commit}^{commit}`], { cwd: root });
  } catch {
    const short = commit.slice(0, 8);
    throw new Error(
      `Release ${release} (commit ${short}) is not in this folder's git history. Clone the whole history, or run git fetch --unshallow.`,
    );
  }
}
