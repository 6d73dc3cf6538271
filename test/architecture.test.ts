import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { settings } from "../src/settings.ts";

/** The house rules that a machine can keep, over every file that is ours. */

const notOurs = /(^|\/)(node_modules|dist|data|\.git)(\/|$)/;
const tracked = [...new Bun.Glob("**/*").scanSync({ dot: true })]
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => !notOurs.test(path))
  .sort();
const codeFiles = tracked.filter((path) => /\.tsx?$/.test(path));
const read = (path: string) => readFileSync(path, "utf8");

interface Import {
  readonly from: string;
  /** A path from the root for our own files, the name as written for modules. */
  readonly to: string;
}

/** Static, dynamic and worker imports alike, types too: a type is a dependency of the reader. */
const importPattern =
  /(?:\bfrom|\bimport)\s*\(?\s*"([\w@./:-]+)"|new URL\(\s*"(\.[^"]+\.ts)",\s*import\.meta\.url/g;

function importsOf(path: string): Import[] {
  return [...read(path).matchAll(importPattern)].map((match) => {
    const name = (match[1] ?? match[2])!;
    return { from: path, to: name.startsWith(".") ? normalize(join(dirname(path), name)) : name };
  });
}

/** What each part of src may import besides itself; a part that is not here may not exist. */
const mayImport: Record<string, readonly string[]> = {
  "src/domain/": ["node:"],
  "src/store/": ["src/domain/", "node:", "bun"],
  "src/limits/": ["src/domain/", "node:", "bun"],
  "src/http/": ["src/domain/", "node:"],
  "src/http/server.ts": ["src/domain/", "src/http/", "node:", "bun"],
  "src/cli/": ["src/", "node:", "bun"],
  "src/compose.ts": ["src/", "node:"],
  "src/main.ts": ["src/", "node:"],
  "src/config.ts": ["src/domain/", "src/settings.ts", "node:"],
  "src/settings.ts": ["src/domain/", "src/setting-readers.ts"],
  "src/setting-readers.ts": ["src/domain/"],
  "src/log.ts": ["src/domain/", "src/output.ts"],
  "src/output.ts": [],
  "client/src/": [],
};

/** The rule with the longest name that fits, so that one file can have its own. */
function ruleFor(path: string): string | undefined {
  const names = Object.keys(mayImport).filter((name) => path.startsWith(name));
  return names.sort((one, other) => other.length - one.length)[0];
}

test("every file of the service belongs to a layer that has an import rule", () => {
  const sources = codeFiles.filter((path) => /^(src|client\/src)\//.test(path));
  expect(sources.length).toBeGreaterThan(40);
  expect(sources.filter((path) => ruleFor(path) === undefined)).toEqual([]);
});

test("no layer imports what it may not", () => {
  const broken = codeFiles.flatMap((path) => {
    const rule = ruleFor(path);
    if (rule === undefined) return [];
    const allowed = [rule, ...mayImport[rule]!];
    return importsOf(path)
      .filter(({ to }) => !allowed.some((prefix) => to.startsWith(prefix)))
      .map(({ from, to }) => `${from} imports ${to}`);
  });
  expect(broken).toEqual([]);
});

test("the import pattern sees imports, exports, types, dynamic imports and workers", () => {
  const text = `import { a } from "./a.ts";
export type { B } from "./b.ts";
import "./c.ts";
const d = await import("./d.ts");
new Worker(new URL("./e.ts", import.meta.url));`;
  const names = [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2]);
  expect(names).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts", "./e.ts"]);
});

/** Files past 300 lines, each with the thought that let it stay so long. */
const longFiles: Record<string, string> = {
  "package-lock.json": "written by npm",
  "bench/peers/package-lock.json": "written by npm",
  "test/generators/package-lock.json": "written by npm",
  "test/support/store-suite.ts": "the Store port's one suite, in the order of the port",
  "openapi.json": "made from the table of operations",
  "openapi-3.0.json": "made from openapi.json",
  "test/fixtures/store-0.1.0.sql": "written by pg_dump",
  "test/fixtures/store-0.2.0.sql": "written by pg_dump",
  "src/http/docs/style.css": "one page's whole look; a style sheet is read by selector",
};

test("a file past 300 lines had a second thought", () => {
  const long = tracked.filter((path) => read(path).split("\n").length - 1 > 300);
  expect(long.filter((path) => !(path in longFiles))).toEqual([]);
  expect(Object.keys(longFiles).filter((path) => !long.includes(path))).toEqual([]);
});

test("nothing is called utils, helpers or common, and nothing is a barrel", () => {
  const names = /(^|\/)(utils?|helpers?|common|misc)(\.|\/)/i;
  expect(tracked.filter((path) => names.test(path))).toEqual([]);
  const barrels = codeFiles.filter((path) => {
    const lines = read(path).trim().split("\n");
    return path.startsWith("src/") && lines.every((line) => /^export .* from /.test(line));
  });
  expect(barrels).toEqual([]);
});

test("no test is skipped, put off or run alone", () => {
  const pattern = /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|todo|only|skipIf|todoIf|if)\b/;
  const tests = codeFiles.filter((path) => /\.test\.tsx?$/.test(path));
  expect(tests.filter((path) => pattern.test(read(path)))).toEqual([]);
});

test("only config.ts reads the environment", () => {
  const pattern = /process\.env|Bun\.env|import\.meta\.env/;
  const readers = codeFiles.filter((path) => path.startsWith("src/") && pattern.test(read(path)));
  expect(readers).toEqual(["src/config.ts"]);
});

/** Where Bun's own interfaces may be used; elsewhere the code would run on any runtime. */
const bunEdges = ["src/store/", "src/http/server.ts", "src/http/docs/pages.ts"];

test("Bun's own interfaces are used only at the edges", () => {
  const users = codeFiles.filter(
    (path) => path.startsWith("src/") && /\bBun\.\w|from "bun/.test(read(path)),
  );
  expect(users.length).toBeGreaterThan(0);
  expect(users.filter((path) => !bunEdges.some((edge) => path.startsWith(edge)))).toEqual([]);
});

test("every setting is explained in docs/operating.md, with its flag and its variable", () => {
  const text = read("docs/operating.md");
  const missing = Object.values(settings).filter(
    ({ flag, variable }) => !text.includes(`\`--${flag}\``) || !text.includes(`\`${variable}\``),
  );
  expect(missing.map(({ flag }) => flag)).toEqual([]);
});

const pages = tracked.filter((path) => path.endsWith(".md"));

test("every path that one of our pages names exists", () => {
  for (const page of pages) {
    const pattern =
      /(?<![\w.-])(?:src|test|docs|bin|bench|client|scripts|examples)\/[\w./-]*[\w/]/g;
    const paths = [...read(page).matchAll(pattern)].map((match) => match[0]);
    const gone = paths.filter(
      (path) => !tracked.some((one) => `${one}/`.startsWith(withSlash(path))),
    );
    expect({ page, gone }).toEqual({ page, gone: [] });
  }
});

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

test("every link from one of our pages to another leads somewhere", () => {
  const dead = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map((match) => normalize(join(dirname(page), match[1]!)))
      .filter((target) => !existsSync(target))
      .map((target) => `${page} → ${target}`),
  );
  expect(dead).toEqual([]);
});

test("no file names a package registry or a place on somebody's machine", () => {
  // Put together here, so that this file does not name them either.
  const hosts = ["npmjs", "yarnpkg"].map((name) => `registry\\.${name}\\.`);
  const places = ["home", "Users", "root", "work"].map((name) => `(?<![\\w.:/-])/${name}/\\w`);
  const pattern = new RegExp([...hosts, ...places].join("|"));
  const named = tracked.filter((path) => pattern.test(read(path)));
  expect(named).toEqual([]);
});
