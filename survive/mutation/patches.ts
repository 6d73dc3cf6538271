import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "../..");
const folder = "survive/mutation/faults";

/** One mistake in one file, and the test that notices it. */
export interface Patch {
  /** The path of the patch. */
  readonly path: string;
  readonly file: string;
  readonly test: string;
  /** Only the tests whose names match are run; undefined for all tests of the file. */
  readonly testName: string | undefined;
  readonly hunks: readonly Hunk[];
}

/** Lines that follow each other, before and after the change. Each line ends with a line feed. */
interface Hunk {
  readonly before: string;
  readonly after: string;
}

/** All patches, by name. Throws if one of them cannot be read. */
export function readPatches(): readonly Patch[] {
  const names = readdirSync(join(root, folder)).sort();
  return names.map((name) => parsePatch(`${folder}/${name}`));
}

/** Reads a unified diff of one file. Its first line names the test: `# test: FILE -t "NAME"`. */
function parsePatch(path: string): Patch {
  const lines = readFileSync(join(root, path), "utf8").split("\n");
  const [, test, testName] = /^# test: (\S+)(?: -t "(.+)")?$/.exec(lines[0]!) ?? [];
  const file = /^--- a\/(\S+)$/.exec(lines[1]!)?.[1];
  if (test === undefined || file === undefined || lines[2] !== `+++ b/${file}`) {
    throw new Error(`${path} does not begin with its test and one file`);
  }
  if (lines.pop() !== "") throw new Error(`${path} does not end with a line feed`);
  const hunks: { before: string; after: string }[] = [];
  for (const line of lines.slice(3)) {
    const hunk = hunks.at(-1);
    const [kind, text] = [line[0], `${line.slice(1)}\n`];
    if (line.startsWith("@@ ")) hunks.push({ before: "", after: "" });
    else if (!hunk || !(kind === " " || kind === "-" || kind === "+")) {
      throw new Error(`${path} has an unexpected line: ${line}`);
    } else {
      if (kind !== "+") hunk.before += text;
      if (kind !== "-") hunk.after += text;
    }
  }
  return { path, file, test, testName, hunks };
}

/**
 * Returns the text of the file with the mistake. Finds a hunk by its lines and not by their number, so
 * that changes elsewhere in the file do not matter. Throws unless they occur exactly once.
 */
export function applyPatch({ path, file, hunks }: Patch, text: string): string {
  return hunks.reduce((whole, { before, after }) => {
    const [start, end, ...others] = `\n${whole}`.split(`\n${before}`);
    if (end === undefined || others.length > 0) {
      throw new Error(
        `${path} does not apply: ${file} has its lines ${others.length || "no"} times`,
      );
    }
    return `${start}\n${after}${end}`.slice(1);
  }, text);
}
