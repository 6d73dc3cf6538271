import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { rooms } from "../scripts/layers.ts";
import { functionsIn } from "./support/functions.ts";
import { longFunctions } from "./support/long-functions.ts";

/** The rules of this repository that a test can check, over every file that is not generated. */

/** Bun writes a file that ends with .bun-build while another test builds an executable. */
const notOurs = /(^|\/)(node_modules|dist|data|\.git)(\/|$)|\.bun-build$/;
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

/** Static, dynamic and worker imports. Types count, because a reader has to follow them too. */
const importPattern =
  /(?:\bfrom|\bimport)\s*\(?\s*"([\w@./:-]+)"|new URL\(\s*"(\.[^"]+\.ts)",\s*import\.meta\.url/g;

function importsOf(path: string): Import[] {
  return [...read(path).matchAll(importPattern)].map((match) => {
    // The client names its files as they are published: "./errors.js" is errors.ts.
    const name = (match[1] ?? match[2])!.replace(/^(\..*)\.js$/, "$1.ts");
    return { from: path, to: name.startsWith(".") ? normalize(join(dirname(path), name)) : name };
  });
}

/** What each part of src may import besides itself. A part that is not listed is an error. */
const mayImport: Record<string, readonly string[]> = {
  "src/domain/": ["node:"],
  "src/store/": ["src/domain/", "src/folders.ts", "node:", "bun"],
  "src/limits/": ["src/domain/", "node:", "bun"],
  "src/webhooks/": ["src/domain/", "node:"],
  "src/traces/": ["src/domain/", "node:"],
  "src/metrics/": ["src/domain/", "node:"],
  "src/backup/": [
    ...["src/domain/", "src/folders.ts", "src/file-errors.ts", "src/store/tables.ts", "node:"],
  ],
  "src/files/": ["src/domain/", "src/file-errors.ts", "node:"],
  "src/http/": ["src/domain/", "src/files/", "node:"],
  "src/console/": [
    ...["src/kit/", "src/domain/audit/audit.ts", "src/domain/limits/plans.ts"],
    ...["src/domain/operations/attention.ts", "src/domain/running/errors.ts", "src/domain/values/"],
    ...["preact", "@preact/signals"],
  ],
  "src/http/docs/": ["src/domain/", "src/http/", "src/kit/", "node:"],
  "src/http/server/server.ts": ["src/domain/", "src/http/", "node:", "bun"],
  "src/kit/": ["node:"],
  "src/cli/": ["src/", "node:", "bun"],
  "src/cli/listen.ts": ["src/", "client/src/", "node:"],
  "src/compose.ts": ["src/", "node:"],
  "src/compose/": ["src/", "node:"],
  "src/command-lines.ts": ["src/config.ts", "src/domain/values/shell.ts"],
  "src/opening/": [
    ...["src/backup/", "src/store/", "src/limits/", "src/domain/", "src/config.ts"],
    ...["src/settings.ts", "src/command-lines.ts", "src/file-errors.ts", "src/output.ts", "node:"],
  ],
  "src/long-work/": [
    "src/domain/",
    "src/files/",
    "src/opening/",
    "src/output.ts",
    "src/store/",
    "node:",
  ],
  "src/main.ts": ["src/", "node:"],
  "src/config.ts": ["src/config/", "src/domain/", "src/settings", "src/output.ts"],
  "src/config/": ["src/domain/", "src/file-errors.ts", "src/output.ts", "src/settings", "node:"],
  "src/config/file.ts": ["src/domain/", "src/file-errors.ts", "src/settings", "node:", "smol-toml"],
  "src/settings.ts": ["src/settings/"],
  "src/settings/": ["src/domain/"],
  "src/log.ts": ["src/log/", "src/domain/", "src/output.ts"],
  "src/log/": ["src/domain/", "src/output.ts", "node:"],
  "src/output.ts": ["src/domain/values/hiding.ts"],
  "src/file-errors.ts": [],
  "src/folders.ts": ["node:"],
  "src/version.ts": ["package.json"],
  "client/src/": [],
};

/** The most specific rule, so that one file can have its own. */
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

/** The room of a file: the first folder below its layer, the file itself, or "*.ts". */
function roomOf(layer: string, path: string): string {
  const name = path.slice(layer.length).split("/")[0]!;
  const isListed = rooms[layer]!.some(([room]) => room === name);
  return isListed || !name.endsWith(".ts") ? name : "*.ts";
}

test("inside a layer, no file imports from a room above its own", () => {
  for (const [layer, list] of Object.entries(rooms)) {
    const order = list.map(([room]) => room);
    const files = codeFiles.filter((path) => path.startsWith(layer));
    const unlisted = files.filter((path) => !order.includes(roomOf(layer, path)));
    expect(unlisted).toEqual([]);
    expect(order.filter((room) => !files.some((path) => roomOf(layer, path) === room))).toEqual([]);
    const floor = (path: string) => order.indexOf(roomOf(layer, path));
    const upward = files
      .flatMap(importsOf)
      .filter(({ from, to }) => to.startsWith(layer) && floor(to) > floor(from))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(upward).toEqual([]);
  }
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

/** The circles of a graph of imports, each as its files in order, with the first one repeated. */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file].join(" → "));
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const next of imports.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
  return circles;
}

test("no file of the service or the client imports itself through others, not even for a type", () => {
  const sources = codeFiles.filter((path) => /^(src|client\/src)\//.test(path));
  const imports = new Map(sources.map((path) => [path, importsOf(path).map(({ to }) => to)]));
  // A style sheet imports nothing.
  const ours = [...imports.values()]
    .flat()
    .filter((to) => /^(src|client\/src)\//.test(to) && !to.endsWith(".css"));
  expect(ours.filter((to) => !sources.includes(to))).toEqual([]);
  expect(findCircles(imports)).toEqual([]);
});

test("the search for circles names each one", () => {
  const imports = new Map([
    ["a", ["b", "c"]],
    ["b", ["c"]],
    ["c", ["d"]],
    ["d", ["b", "e"]],
    ["e", ["e"]],
    ["f", ["a"]],
  ]);
  expect(findCircles(imports)).toEqual(["b → c → d → b", "e → e"]);
});

/** Files that only one engine has, each with the reason. */
const ofOneEngine: Record<string, string> = {
  "overlapping-commits.ts": "SQLite commits one transaction at a time",
  "plain-updates.ts": "SQLite has no round trips to save",
  "moment.ts":
    "a backup is moved to a moment in a scratch file, and copied to PostgreSQL from there",
  "ports.ts": "PostgreSQL has no thread between reading and writing, so each file makes its port",
};

test("both engines have the same files, apart from their folders", () => {
  const filesOf = (engine: string) => {
    const folder = `src/store/${engine}/`;
    return codeFiles
      .filter((path) => path.startsWith(folder) && dirname(path) === dirname(`${folder}x`))
      .map((path) => path.slice(folder.length));
  };
  const [sqlite, postgres] = [filesOf("sqlite"), filesOf("postgres")];
  expect(sqlite.length).toBeGreaterThan(5);
  const differing = [...new Set(sqlite).symmetricDifference(new Set(postgres))];
  expect(differing.sort()).toEqual(Object.keys(ofOneEngine).sort());
});

test("all SQL of the service is in src/store", () => {
  const pattern = /\b(?:SELECT\s+\S|INSERT\s+INTO\s|DELETE\s+FROM\s|UPDATE\s+\S+\s+SET\s)/;
  const users = codeFiles.filter((path) => path.startsWith("src/") && pattern.test(read(path)));
  expect(users.length).toBeGreaterThan(5);
  expect(users.filter((path) => !path.startsWith("src/store/"))).toEqual([]);
});

test("file names are in lower case, with hyphens between words", () => {
  const conventional = /(^|\/)(README\.md|LICENSE|\.gitignore)$/;
  const lowerCase = /^(?:[a-z0-9]+(?:[-.][a-z0-9]+)*\/)*[a-z0-9]+(?:[-.][a-z0-9]+)*$/;
  const named = tracked.filter((path) => /^(src|test|bench|survive|client|scripts)\//.test(path));
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter((path) => !conventional.test(path) && !lowerCase.test(path))).toEqual([]);
});

test("what several tests share is in test/support", () => {
  const isTest = /\.(?:test|endurance|tools)\.ts$/;
  // Data, programs that run outside the test runner, and the one that starts it.
  const elsewhere = /^test\/(?:(?:support|fixtures|generators)\/|run\.ts$)/;
  const misplaced = codeFiles.filter(
    (path) => path.startsWith("test/") && !isTest.test(path) && !elsewhere.test(path),
  );
  expect(misplaced).toEqual([]);
});

test("tests wait for events: no *.test.ts sleeps", () => {
  const tests = codeFiles.filter((path) => /^test\/.*\.test\.ts$/.test(path));
  expect(tests.length).toBeGreaterThan(100);
  expect(
    tests.filter((path) => /\bBun\.sleep(?:Sync)?\(|setTimeout\(resolve/.test(read(path))),
  ).toEqual([]);
});

/** Files of more than 400 lines, each with the reason. */
const longFiles: Record<string, string> = {
  "src/console/client/types.ts": "generated from openapi-admin.json",
  "package-lock.json": "written by npm",
  "bench/peers/package-lock.json": "written by npm",
  "test/generators/package-lock.json": "written by npm",
  "openapi.json": "made from the table of operations",
  "openapi-3.0.json": "made from openapi.json",
  "openapi-admin.json": "made from the table of operations",
  "deploy/grafana/petstore.json": "written by scripts/dashboard.ts",
  "client/README.md": "the manual of the package, of which npm shows one page",
  "CHANGELOG.md": "a list that grows with every version, read from its top",
  "src/kit/components.css": "a style sheet, whose first comment lists its classes",
  "src/store/postgres/schema.ts":
    "the tables and functions of an engine, in the order of their creation",
};

test("no file has more than 400 lines without a reason", () => {
  const texts = tracked.filter((path) => !/\.png$|^test\/fixtures\//.test(path));
  const long = texts.filter((path) => read(path).split("\n").length - 1 > 400);
  expect(long.filter((path) => !(path in longFiles))).toEqual([]);
  expect(Object.keys(longFiles).filter((path) => !long.includes(path))).toEqual([]);
});

test("no line of a comment has more than 120 columns", () => {
  const long = codeFiles
    .filter((path) => !/(console\/client|client\/src)\/types\.ts$/.test(path))
    .flatMap((path) => read(path).match(/^(?=.{121}) *(?:\/\/|\/\*|\* ).*/gm) ?? []);
  expect(long).toEqual([]);
});

test("no function has more than 70 lines of code without a reason", () => {
  const sources = codeFiles.filter((path) =>
    /^(src|client\/src|scripts|bench|survive)\//.test(path),
  );
  const long = sources.flatMap((path) =>
    [...functionsIn(read(path))]
      .filter(({ codeLines }) => codeLines > 70)
      .map(({ name }) => `${path} ${name}`),
  );
  const listed = Object.values(longFunctions).flat();
  expect(long.filter((one) => !listed.includes(one))).toEqual([]);
  expect(listed.filter((one) => !long.includes(one))).toEqual([]);
});

/** Searches in, and changes of, something that is named like a message. */
const readsMessage =
  /\.(?:exec|test)\([^)]*\b(?:message|error|failure)s?\b|\b(?:message|error|messageOf\([^)]*\))(?:\.(?:value|message))*[!?]?\.(?:match|matchAll|replace|replaceAll|split|search|includes|startsWith|endsWith|indexOf)\(/;

/** Prints the sentences of the domain as fragments. */
const formatsMessages = "src/cli/run.ts";

test("whoever gets an error reads its fields, and never its sentence", () => {
  const clients = codeFiles.filter((path) => /^(src\/(console|cli)|client\/src)\//.test(path));
  const reading = clients.flatMap((path) => {
    const lines = read(path).split("\n");
    return lines.filter((line) => readsMessage.test(line)).map((line) => `${path}: ${line.trim()}`);
  });
  expect(reading.filter((one) => !one.startsWith(`${formatsMessages}: `))).toEqual([]);
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

test("no test is marked as to do, run exclusively, or skipped unless its title names a missing program", () => {
  const pattern = /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|todo|only|todoIf|if)\b/;
  const unnamed = /\.skipIf\([^)]*\)\((?!\s*["`][^"`]*\(needs (?:[\w-]+|\$\{\w+\})\)["`])/;
  const tests = codeFiles.filter((path) => /\.test\.tsx?$/.test(path));
  const broken = (text: string) => pattern.test(text) || unnamed.test(text);
  expect(tests.filter((path) => broken(read(path)))).toEqual([]);
});

test("only config.ts reads the environment, apart from what terminals have there", () => {
  const pattern = /process\.env|Bun\.env|import\.meta\.env/;
  // The samples of the page at /docs contain code for the programs of other people.
  const samples = /^src\/http\/docs\/browser\/samples\.ts$/;
  const readers = codeFiles.filter(
    (path) => path.startsWith("src/") && !samples.test(path) && pattern.test(read(path)),
  );
  expect(readers).toEqual(["src/config.ts", "src/output.ts"]);
});

/** Where Bun's APIs may be used. All other code runs on any runtime. */
const bunEdges = [
  // Knows how many columns of a terminal a text takes.
  "src/cli/table.ts",
  // Frees memory at once. Node has that only with a flag.
  "src/files/memory.ts",
  "src/store/",
  "src/http/server/server.ts",
  "src/http/server/metrics-server.ts",
  "src/http/docs/reference-pages.ts",
  "src/http/docs/prose.ts",
];

test("Bun's APIs are used only where that is allowed", () => {
  const users = codeFiles.filter(
    (path) => path.startsWith("src/") && /\bBun\.\w|from "bun/.test(read(path)),
  );
  expect(users.length).toBeGreaterThan(0);
  expect(users.filter((path) => !bunEdges.some((edge) => path.startsWith(edge)))).toEqual([]);
});

const pages = tracked.filter((path) => path.endsWith(".md"));

test("every path that a documentation page names exists", () => {
  for (const page of pages) {
    const pattern =
      /(?<![\w.-])(?:src|test|docs|bin|bench|survive|client|scripts|examples)\/[\w./-]*[\w/]/g;
    const paths = [...read(page).matchAll(pattern)].map((match) => match[0]);
    const gone = paths.filter(
      (path) => !tracked.some((one) => `${one}/`.startsWith(withSlash(path))),
    );
    expect({ page, gone }).toEqual({ page, gone: [] });
  }
});

test("every script is named in package.json, in a documentation page or by another script", () => {
  const scripts = tracked.filter((path) => /^scripts\/[^/]+\.ts$/.test(path));
  expect(scripts.length).toBeGreaterThan(10);
  const named = (path: string) => {
    const name = path.replace("scripts/", "");
    const others = [...pages, "package.json", ...tracked.filter((one) => /^scripts\//.test(one))];
    return others.some((one) => one !== path && one !== "CHANGELOG.md" && read(one).includes(name));
  };
  expect(scripts.filter((path) => !named(path))).toEqual([]);
});

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

test("every link between documentation pages leads to a file", () => {
  const dead = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map((match) => normalize(join(dirname(page), match[1]!)))
      .filter((target) => !existsSync(target))
      .map((target) => `${page} → ${target}`),
  );
  expect(dead).toEqual([]);
});

test("no file names a package registry or a path on a developer's machine", () => {
  // Built from parts, so that this file does not contain them either.
  const hosts = ["npmjs", "yarnpkg"].map((name) => `registry\\.${name}\\.`);
  const places = ["home", "Users", "root", "work"].map((name) => `(?<![\\w.:/-])/${name}/\\w`);
  const pattern = new RegExp([...hosts, ...places].join("|"));
  const named = tracked.filter((path) => pattern.test(read(path)));
  expect(named).toEqual([]);
});
