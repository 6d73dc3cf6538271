import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { closeBrowser } from "../browser.ts";
import { journeyInBrowser, PackageSite } from "./browser.ts";
import { expectedReport, installPackedClient, journeyOn, type Project, run } from "./pack.ts";
import { type Recipe, readRecipes, runRecipe } from "./recipes.ts";
import { Shop } from "./shop.ts";

let project: Project;
let site: PackageSite;
let shop: Shop;
let recipes: Recipe[];

beforeAll(async () => {
  project = await installPackedClient();
  site = new PackageSite(project);
  shop = await Shop.open({ "cors-origins": site.origin });
  recipes = await readRecipes();
}, 60_000);

afterAll(async () => {
  await closeBrowser();
  await shop[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

// First, while the shop is as it was opened.
describe("the recipes of the README", () => {
  const printed: Readonly<Record<string, RegExp>> = {
    "List the stock": /^pet 1: 0 available\npet 2: 1 pending\npet 9223372036854775807: 7 sold\n$/,
    "Record an arrival": /^pet 1: 0 before, 5 now\n$/,
    "Read the limits": /^59 of 60 left until \d{4}-\d\d-\d\dT\d\d:\d\d:00.000Z\n$/,
    "Handle what can go wrong": /^no such pet \(status 404, request \S+\)\n$/,
    "Walk through all orders": /^5 orders under way\n$/,
  };

  test("are five, and each prints what it promises", async () => {
    expect(recipes.map(({ title }) => title)).toEqual(Object.keys(printed));
    for (const recipe of recipes) {
      const { apiKey } = await shop.enter();
      const output = await runRecipe(project.folder, recipe, shop.service.baseUrl, apiKey);
      expect(output).toMatch(printed[recipe.title] ?? /never/);
    }
  }, 30_000);

  test("satisfy the compiler with the published types, under both ways to resolve modules", async () => {
    for (const { title, code } of recipes) {
      await Bun.write(join(project.folder, "typed", `${title}.ts`), code);
    }
    const compiler = new URL("../../node_modules/.bin/tsc", import.meta.url).pathname;
    for (const module of ["NodeNext", "Preserve"]) {
      const options = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] };
      const libraries = { module, target: "ES2022", lib: ["ES2022", "DOM", "DOM.Iterable"] };
      const config = { compilerOptions: { ...options, ...libraries }, include: ["typed"] };
      await Bun.write(join(project.folder, "tsconfig.json"), JSON.stringify(config));
      await run([compiler, "-p", "tsconfig.json"], project.folder);
    }
  }, 30_000);
});

describe("the packed client, installed into an empty project", () => {
  test("brings its own files and nothing else", async () => {
    const modules = join(project.folder, "node_modules");
    expect((await readdir(modules)).filter((name) => !name.startsWith("."))).toEqual([
      "petstore-inventory-client",
    ]);
    const files = await readdir(join(modules, "petstore-inventory-client"));
    expect(files.sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  });

  test("imports and declares only from files that it brings", async () => {
    const dist = join(project.folder, "node_modules", "petstore-inventory-client", "dist");
    for (const file of await readdir(dist)) {
      const text = await readFile(join(dist, file), "utf8");
      const targets = [...text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(
        ([, to]) => to ?? "",
      );
      // Compilers before 5.0 refuse a declaration that names a .ts file.
      expect(targets.filter((to) => !to.endsWith(".js") || !existsSync(join(dist, to)))).toEqual(
        [],
      );
    }
  });

  for (const runtime of ["node", "bun"] as const) {
    test(`does all it promises under ${runtime}`, async () => {
      const { apiKey } = await shop.enter();
      const report = await journeyOn(runtime, project, shop.service.baseUrl, apiKey);
      expect(report).toEqual(expectedReport);
    }, 20_000);
  }

  test("does all it promises in a browser, from an origin that the service allows", async () => {
    const { apiKey } = await shop.enter();
    expect(await journeyInBrowser(site, shop.service.baseUrl, apiKey)).toEqual(expectedReport);
  }, 60_000);
});
