import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  expectedRedirect,
  expectedReport,
  installPackedClient,
  type Project,
  run,
  runRedirectOn,
  runScenarioOn,
} from "../support/client/package.ts";
import { readReadmeExamples } from "../support/client/readme-examples.ts";
import { StockedService } from "../support/client/stocked-service.ts";

// Checks the packed client with external tools: `npm run test:packages`. The tools are installed into
// a temporary folder, because they are about 65 packages and 200 MB that nothing else needs.

const versions = {
  "@arethetypeswrong/cli": "0.18.5",
  publint: "0.3.25",
  deno: "2.9.6",
  // The oldest version in the README. It still supports node10, which ours does not.
  typescript: "4.9.5",
};

let tools: string;
let project: Project;
let stocked: StockedService;

beforeAll(async () => {
  tools = await mkdtemp(join(tmpdir(), "petstore-tools-"));
  // Deno unpacks its binary in an install script.
  const manifest = { private: true, dependencies: versions, allowScripts: { deno: true } };
  await Bun.write(join(tools, "package.json"), JSON.stringify(manifest));
  await run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], tools);
  project = await installPackedClient("npm");
  stocked = await StockedService.start();
}, 300_000);

afterAll(async () => {
  await stocked[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
  await rm(tools, { recursive: true, force: true });
});

const tool = (name: string) => join(tools, "node_modules", ".bin", name);

test("attw finds no problems with any module resolution", async () => {
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

test("publint finds no problems in strict mode", async () => {
  const output = await run([tool("publint"), "run", "--strict", project.tarball], tools);
  expect(output).toContain("All good!");
}, 60_000);

test("the examples in the README compile with TypeScript 4.9, CommonJS and node10", async () => {
  const folder = join(project.folder, "node10");
  for (const { title, code } of await readReadmeExamples()) {
    // Skip examples that use Node, whose types are not installed, and JavaScript.
    if (/"node:|require\(/.test(code)) continue;
    // CommonJS has no top-level await.
    const body = code.replace(/^(import [\s\S]*?;\n)/, "$1export async function example() {\n");
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

test("the client works under Deno, imported and required, and does not follow redirects", async () => {
  // Use a separate cache, and only the permissions that the client needs.
  const deno = [
    "env",
    `DENO_DIR=${join(tools, "deno")}`,
    "DENO_NO_UPDATE_CHECK=1",
    tool("deno"),
    "run",
    "--node-modules-dir=manual",
    "--allow-net=127.0.0.1",
  ];
  for (const [file, permissions] of [
    ["main.mjs", []],
    ["main.cjs", ["--allow-read=."]],
  ] as const) {
    const { apiKey } = await stocked.openSession();
    const { baseUrl } = stocked.service;
    const report = await runScenarioOn([...deno, ...permissions], file, project, baseUrl, apiKey);
    expect(report).toEqual(expectedReport);
  }
  expect(await runRedirectOn(deno, project)).toEqual(expectedRedirect);
}, 60_000);
