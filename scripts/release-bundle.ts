/**
 * Packs the code of a release for test/fixtures: a JSON object from path to text, compressed with
 * zstd. `src/main.js` runs every command of the release with the Bun that runs the tests.
 *
 *   bun scripts/release-bundle.ts CHECKOUT FILE
 */

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const [checkout = "", target = ""] = process.argv.slice(2);
if (target === "") throw new Error("usage: bun scripts/release-bundle.ts CHECKOUT FILE");

async function bundle(entry: string): Promise<string> {
  const built = await Bun.build({
    entrypoints: [resolve(checkout, entry)],
    target: "bun",
    minify: true,
  });
  return built.outputs[0]!.text();
}

const read = (path: string) => readFileSync(resolve(checkout, path), "utf8");
const { name, version } = JSON.parse(read("package.json"));

/** The bundle is one file, so the files that the code opens by relative names are beside it. */
const files: Record<string, string> = {
  "package.json": JSON.stringify({ name, version }),
  "src/main.js": await bundle("src/main.ts"),
  "src/writer-worker.ts": await bundle("src/store/sqlite/writing/writer-worker.ts"),
};
for (const pattern of ["*.svg", "browser/*.ts"]) {
  for (const page of new Bun.Glob(pattern).scanSync(resolve(checkout, "src/http/docs"))) {
    files[`src/${page}`] = read(`src/http/docs/${page}`);
  }
}
writeFileSync(target, Bun.zstdCompressSync(JSON.stringify(files), { level: 19 }));
