import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Part } from "../part.ts";
import { applyPatch, type Patch, readPatches, root } from "./patches.ts";

/** Some mistakes make a test wait for what never happens, which is noticed sooner than in the suite. */
const sooner = ["--timeout", "60000"];
/** The time limit of a test does not end an endless loop. */
const processMsMax = 600_000;

/** What a copy of the checkout does not need, or gets in another way. */
const notCopied = ["node_modules", "dist", "data", ".git"];

const patches = readPatches();

/** How the tests end without a mistake, by command. Each is run once. */
const unpatched = new Map<string, Promise<TestRun>>();

/** How many mistakes the tests of each tier have noticed. */
const caught = { quick: 0, full: 0 };

function tierOf({ test }: Patch): keyof typeof caught {
  return test.endsWith(".full.test.ts") ? "full" : "quick";
}

/**
 * Puts a mistake into a copy of the code and runs the test that should notice it. A mistake that no test
 * notices could be made by anybody, any time.
 */
export const mutation: Part = {
  name: "mutation",
  share: 0,
  rounds: patches.length,
  async round({ seed, folder, faults, fail, figure }) {
    const patch = patches[seed % patches.length]!;
    const begunAt = performance.now();
    copyCheckout(folder);
    const file = join(folder, patch.file);
    writeFileSync(file, applyPatch(patch, readFileSync(file, "utf8")));
    const words = wordsOf(patch);
    const good = unpatched.get(words.join(" ")) ?? runTest(root, words);
    unpatched.set(words.join(" "), good);
    const [before, after] = await Promise.all([good, runTest(folder, [...sooner, ...words])]);
    faults(1);
    const seconds = Math.round((performance.now() - begunAt) / 1_000);
    const shown = words.map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ");
    if (!before.isPassed) fail("wrong", `${patch.test} fails without a mistake:\n${before.output}`);
    else if (after.isPassed)
      fail("wrong", `${patch.path} survived: git apply ${patch.path} && npm test -- ${shown}`);
    else if (!after.hasFailures) fail("wrong", `${patch.path}: no test ran:\n${after.output}`);
    else {
      const tier = tierOf(patch);
      caught[tier] += 1;
      figure("caught by npm test", String(caught.quick));
      figure("caught by npm run test:all", String(caught.full));
      console.log(`mutation: ${patch.path}: caught by ${patch.test} (${tier}, ${seconds} s)`);
    }
  },
};

function wordsOf({ test, testName }: Patch): readonly string[] {
  return testName === undefined ? [test] : [test, "-t", testName];
}

/** The console is built anew in the copy, with the mistake. */
function copyCheckout(folder: string): void {
  for (const name of readdirSync(root)) {
    if (notCopied.includes(name)) continue;
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

interface TestRun {
  readonly isPassed: boolean;
  /** False if the process ended before it ran a test, for example because of a syntax error. */
  readonly hasFailures: boolean;
  readonly output: string;
}

async function runTest(folder: string, words: readonly string[]): Promise<TestRun> {
  const child = Bun.spawn(["sh", "bin/test", ...words], {
    cwd: folder,
    timeout: processMsMax,
    stdout: "ignore",
    stderr: "pipe",
  });
  const output = await new Response(child.stderr).text();
  const isPassed = (await child.exited) === 0;
  return {
    isPassed,
    hasFailures: /^\(fail\) /m.test(output),
    output: output.slice(-4_000),
  };
}
