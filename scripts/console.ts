// Builds the console, src/console, into dist/console. With --if-needed, only if a source is newer.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { ConsoleManifest } from "../src/http/console/console-pages.ts";

const root = join(import.meta.dir, "..");
const folder = join(root, "dist/console");
const manifestPath = join(folder, "manifest.json");
const sources = [
  "src/console",
  "src/kit",
  "src/domain",
  "scripts/console.ts",
  "tsconfig.json",
  "package.json",
];

if (!process.argv.includes("--if-needed") || isStale()) await build();

/** True if there is no build, or if a source changed after it. */
function isStale(): boolean {
  const builtAt = statSync(manifestPath, { throwIfNoEntry: false })?.mtimeMs;
  return builtAt === undefined || sources.some((path) => newestIn(join(root, path)) > builtAt);
}

/** A folder counts, too: removing a file changes the time of its folder. */
function newestIn(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const inside = readdirSync(path).map((name) => newestIn(join(path, name)));
  return Math.max(stats.mtimeMs, ...inside);
}

async function build(): Promise<void> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, "src/console/main.tsx"), join(root, "src/console/console.css")],
    target: "browser",
    splitting: true,
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    // A chunk that several views share has the name of the entry point.
    naming: { entry: "[name]-[hash].[ext]", chunk: "part-[name]-[hash].[ext]" },
  });
  mkdirSync(folder, { recursive: true });
  const names = outputs.map(({ path }) => basename(path));
  for (const output of outputs) await Bun.write(join(folder, basename(output.path)), output);
  const manifest: ConsoleManifest = {
    script: nameOf(names, /^main-.*\.js$/),
    style: nameOf(names, /^console-.*\.css$/),
    files: names.sort(),
  };
  // The manifest comes last, so that a service that starts meanwhile finds all files of one build.
  writeFileSync(`${manifestPath}.new`, `${JSON.stringify(manifest, null, 2)}\n`);
  renameSync(`${manifestPath}.new`, manifestPath);
  for (const name of readdirSync(folder)) {
    if (name !== basename(manifestPath) && !names.includes(name)) rmSync(join(folder, name));
  }
}

function nameOf(names: readonly string[], pattern: RegExp): string {
  const found = names.filter((name) => pattern.test(name));
  if (found.length !== 1) throw new Error(`expected one file like ${pattern}, found ${found}`);
  return found[0]!;
}
