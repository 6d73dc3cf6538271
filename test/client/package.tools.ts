import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  expectedRedirect,
  expectedReport,
  installPackedClient,
  journeyOn,
  type Project,
  redirectOn,
  run,
} from "../support/client/package.ts";
import { readRecipes } from "../support/client/recipes.ts";
import { Shop } from "../support/client/shop.ts";

// The packed client under other people's tools: `npm run test:packages`. They come from npm into a
// temporary folder, because together they are some 65 packages and 200 MB that nothing else needs.

const versions = {
  "@arethetypeswrong/cli": "0.18.5",
  publint: "0.3.25",
  deno: "2.9.6",
  // The oldest compiler that the README promises types for. It still has node10; ours does not.
  typescript: "4.9.5",
};

let tools: string;
let project: Project;
let shop: Shop;

beforeAll(async () => {
  tools = await mkdtemp(join(tmpdir(), "petstore-tools-"));
  // Deno unpacks its binary when it is installed.
  const manifest = { private: true, dependencies: versions, allowScripts: { deno: true } };
  await Bun.write(join(tools, "package.json"), JSON.stringify(manifest));
  await run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], tools);
  project = await installPackedClient();
  shop = await Shop.open();
}, 300_000);

afterAll(async () => {
  await shop[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
  await rm(tools, { recursive: true, force: true });
});

const tool = (name: string) => join(tools, "node_modules", ".bin", name);

test("attw finds types and code of the right kind for every way to resolve modules", async () => {
  const output = await run([tool("attw"), "--format", "json", project.tarball], tools);
  const { analysis } = JSON.parse(output);
  expect(Object.keys(analysis.entrypoints["."].resolutions).sort()).toEqual([
    "bundler",
    "node10",
    "node16-cjs",
    "node16-esm",
  ]);
  expect(analysis.problems).toEqual([]);
}, 60_000);

test("publint has nothing to say, even strictly", async () => {
  const output = await run([tool("publint"), "run", "--strict", project.tarball], tools);
  expect(output).toContain("All good!");
}, 60_000);

test("the recipes satisfy TypeScript 4.9 in a CommonJS program with node10", async () => {
  const folder = join(project.folder, "node10");
  for (const { title, code } of await readRecipes()) {
    // Only what this project has types for: no Node, and no JavaScript.
    if (/"node:|require\(/.test(code)) continue;
    // Such programs have no await at the top level.
    const body = code.replace(/^(import [\s\S]*?;\n)/, "$1export async function recipe() {\n");
    await Bun.write(join(folder, `${title}.ts`), `${body}}\n`);
  }
  const compilerOptions = {
    module: "CommonJS",
    moduleResolution: "node",
    target: "ES2020",
    lib: ["ES2020", "DOM", "DOM.Iterable"],
    strict: true,
    noEmit: true,
    types: [],
  };
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  await run([tool("tsc"), "-p", folder], folder);
}, 60_000);

test("Deno runs it, imported and required, and refuses redirects", async () => {
  // Away from the user's own cache, and only with the rights that the client needs.
  const deno = [
    "env",
    `DENO_DIR=${join(tools, "deno")}`,
    "DENO_NO_UPDATE_CHECK=1",
    tool("deno"),
    "run",
    "--node-modules-dir=manual",
    "--allow-net=127.0.0.1",
  ];
  for (const [file, rights] of [
    ["main.mjs", []],
    ["main.cjs", ["--allow-read=."]],
  ] as const) {
    const { apiKey } = await shop.enter();
    const { baseUrl } = shop.service;
    const report = await journeyOn([...deno, ...rights], file, project, baseUrl, apiKey);
    expect(report).toEqual(expectedReport);
  }
  expect(await redirectOn(deno, project)).toEqual(expectedRedirect);
}, 60_000);
