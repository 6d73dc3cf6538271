// Provides the code of a release with its dependencies. It is kept in dist/, which git ignores.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { $ } from "bun";
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
  const withoutTests = [".", ":(exclude,glob)**/*.test.ts"];
  await $`git archive --format=tar --output=${archive} ${commit} ${withoutTests}`.cwd(root);
  await $`tar -xf ${archive} -C ${partial}`;
  rmSync(archive);
  await $`npm ci --omit=dev --no-audit --no-fund`.cwd(partial).quiet();
  renameSync(partial, folder);
  return folder;
}

async function checkCommit(release: string, commit: string): Promise<void> {
  try {
    await $`git cat-file -e ${`${commit}^{commit}`}`.cwd(root).quiet();
  } catch {
    const short = commit.slice(0, 8);
    throw new Error(
      `Release ${release} (commit ${short}) is not in this folder's git history. Clone the whole history, or run git fetch --unshallow.`,
    );
  }
}
