import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { closeBrowser } from "../browser.ts";
import { journeyInBrowser, PackageSite } from "./browser.ts";
import { expectedReport, installPackedClient, journeyOn, type Project, run } from "./pack.ts";
import { type Recipe, readRecipes, runRecipe } from "./recipes.ts";
import { apiKey, ScriptedService } from "./service.ts";

let project: Project;

beforeAll(async () => {
  project = await installPackedClient();
}, 60_000);

afterAll(async () => {
  await closeBrowser();
  await project[Symbol.asyncDispose]();
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

  test("works under Node", async () => {
    await using service = new ScriptedService();
    expect(await journeyOn("node", project, service.baseUrl, apiKey)).toEqual(expectedReport);
  }, 20_000);

  test("works under Bun", async () => {
    await using service = new ScriptedService();
    expect(await journeyOn("bun", project, service.baseUrl, apiKey)).toEqual(expectedReport);
  }, 20_000);

  test("works in a browser, from another origin", async () => {
    await using service = new ScriptedService();
    await using site = new PackageSite(project);
    expect(await journeyInBrowser(site, service.baseUrl, apiKey)).toEqual(expectedReport);
  }, 60_000);
});

describe("the recipes of the README", () => {
  const printed: Readonly<Record<string, RegExp>> = {
    "List the stock":
      /^pet 1: 0 available\npet 2: 1 available\npet 9223372036854775807: 7 available\n$/,
    "Record an arrival": /^pet 1: 0 before, 5 now\n$/,
    "Read the limits": /^59 of 60 left until \d{4}-\d\d-\d\dT\d\d:\d\d:00.000Z\n$/,
    "Handle what can go wrong": /^no such pet \(status 404, request request-1\)\n$/,
    "Walk through all orders": /^5 orders under way\n$/,
  };
  let recipes: Recipe[];

  beforeAll(async () => {
    recipes = await readRecipes();
  });

  test("are five, and each prints what it promises", async () => {
    expect(recipes.map(({ title }) => title)).toEqual(Object.keys(printed));
    for (const recipe of recipes) {
      await using service = new ScriptedService();
      const output = await runRecipe(project.folder, recipe, service.baseUrl, apiKey);
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
