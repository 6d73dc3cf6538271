import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { closeBrowser } from "../support/browser.ts";
import {
  expectedRedirect,
  expectedReport,
  installPackedClient,
  journeyOn,
  type Project,
  redirectOn,
  run,
} from "../support/client/package.ts";
import { journeyInBrowser, PackageSite, runInBrowser } from "../support/client/page.ts";
import { type Recipe, readRecipes, runRecipe } from "../support/client/recipes.ts";
import { ScriptedServer } from "../support/client/scripted-server.ts";
import { Shop } from "../support/client/shop.ts";

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
    "Quick start": /^pet 1: 0 available\npet 2: 1 pending\npet 9223372036854775807: 7 sold\n$/,
    CommonJS: /^3 entries\n$/,
    "Update a count": /^pet 1: 0 before, 5 now\n$/,
    "Handle errors": /^no such pet \(status 404, request \S+\)\n$/,
    "Read the rate limit": /^59 of 60 left until \d{4}-\d\d-\d\dT\d\d:\d\d:00.000Z\n$/,
    "Iterate over all orders": /^5 orders not yet delivered\n$/,
    "Access the response": /^3 entries, request \S+\n$/,
    "Log requests": /^listInventory: 200\n$/,
    "Rotate the API key": /^3 entries\n$/,
    "Convert results to JSON":
      /^\{"petId":1,"quantity":5,"status":"available"\}\n\{"petId":1,.*,"shelf":"A3"\}\n$/,
  };

  test("all run, and each prints what it promises", async () => {
    expect(recipes.map(({ title }) => title)).toEqual(Object.keys(printed));
    for (const recipe of recipes) {
      const { apiKey } = await shop.enter();
      const output = await runRecipe(project.folder, recipe, shop.service.baseUrl, apiKey);
      expect(output).toMatch(printed[recipe.title] ?? /never/);
    }
  }, 30_000);

  test("satisfy the compiler with the published types, under both ways to resolve modules", async () => {
    for (const { title, extension, code } of recipes) {
      if (extension !== "ts") continue;
      await Bun.write(join(project.folder, "typed", `${title}.ts`), code);
    }
    await Bun.write(join(project.folder, "typed", "node.d.ts"), nodeTypes);
    for (const module of ["NodeNext", "Preserve"]) await compile(["typed"], { module });
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

  test("imports, requires and declares only from files that it brings", async () => {
    const dist = join(project.folder, "node_modules", "petstore-inventory-client", "dist");
    for (const format of ["esm", "cjs"]) {
      const files = (await readdir(join(dist, format))).filter((name) => name !== "package.json");
      expect(files.length).toBeGreaterThan(20);
      for (const file of files) {
        const text = await readFile(join(dist, format, file), "utf8");
        const targets = [...text.matchAll(/(?:from|import\(|require\()\s*"([^"]+)"/g)];
        // Compilers before 5.0 refuse a declaration that names a .ts file.
        const strange = targets
          .map(([, to]) => to ?? "")
          .filter((to) => !to.endsWith(".js") || !existsSync(join(dist, format, to)));
        expect({ file, strange }).toEqual({ file, strange: [] });
      }
    }
  });

  for (const [name, runtime] of Object.entries({ node: "node", bun: process.execPath })) {
    for (const [way, file] of [
      ["imported", "main.mjs"],
      ["required", "main.cjs"],
    ] as const) {
      test(`does all it promises under ${name} when it is ${way}`, async () => {
        const { apiKey } = await shop.enter();
        const report = await journeyOn([runtime], file, project, shop.service.baseUrl, apiKey);
        expect(report).toEqual(expectedReport);
      }, 20_000);
    }
  }

  test("refuses redirects under node, whose fetch shows their target", async () => {
    expect(await redirectOn(["node"], project)).toEqual(expectedRedirect);
  }, 20_000);

  test("knows its errors also when a program imports and requires it", async () => {
    const program = `const required = require("petstore-inventory-client");
      import("petstore-inventory-client").then((imported) => {
        const options = { baseUrl: "http://127.0.0.1:1/v1", apiKey: "x", attemptsMax: 1 };
        const error = new required.ApiError({ code: "gone", message: "", status: 410 });
        console.log(required === imported, error instanceof imported.ApiError, imported.isApiError(error));
        new imported.PetstoreClient(options).listInventory().catch((reason) => {
          console.log(reason instanceof required.NetworkError, required.isNetworkError(reason), required.isApiError(reason));
        });
      });`;
    await Bun.write(join(project.folder, "both.cjs"), program);
    const output = await run(["node", "both.cjs"], project.folder);
    expect(output).toBe("false false true\nfalse true false\n");
  });

  test("has types for CommonJS, and for compilers that do not read `exports`", async () => {
    const code = `import { isApiError, PetstoreClient } from "petstore-inventory-client";
      const client = new PetstoreClient({ baseUrl: "http://127.0.0.1:1/v1", apiKey: async () => "x" });
      export const first: Promise<bigint | undefined> = client.listInventory().then((list) => list[0]?.petId);
      export const status: Promise<number> = client.getPet(7n).withResponse().then(({ response }) => response.status);
      export const judge = (error: unknown) => isApiError(error) && error.code === "not_found";
      // @ts-expect-error: types that resolve to nothing would let this pass
      export const wrong: string = client.limits;`;
    const lookups = {
      "required.cts": { module: "NodeNext" },
      // What node10 does with a package; this compiler no longer has it under that name.
      "classic.ts": {
        module: "CommonJS",
        moduleResolution: "Bundler",
        resolvePackageJsonExports: false,
      },
    };
    for (const [file, lookup] of Object.entries(lookups)) {
      await Bun.write(join(project.folder, file), code);
      await compile([file], lookup);
    }
  }, 30_000);

  test("does all it promises in a browser, from an origin that the service allows", async () => {
    const { apiKey } = await shop.enter();
    expect(await journeyInBrowser(site, shop.service.baseUrl, apiKey)).toEqual(expectedReport);
  }, 60_000);

  test("refuses redirects in a browser too, where nobody can see their target", async () => {
    await using server = new ScriptedServer();
    await using stranger = new ScriptedServer();
    const headers = {
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "authorization",
      location: `${stranger.baseUrl}/inventory`,
    };
    server.play(
      () => new Response(null, { status: 204, headers }),
      () => new Response(null, { status: 302, headers }),
    );
    const options = JSON.stringify({ baseUrl: server.baseUrl, apiKey: "x", attemptsMax: 1 });
    const message = await runInBrowser(
      site,
      `return await new client.PetstoreClient(${options}).listInventory().catch(String);`,
    );
    expect(message).toContain("redirects to an unknown host");
    expect(server.received).toHaveLength(2);
    expect(stranger.received).toEqual([]);
  }, 60_000);
});

/** The one function of Node that a recipe uses; the project installs no types of Node. */
const nodeTypes = `declare module "node:fs/promises" {
  export function readFile(path: string, encoding: "utf8"): Promise<string>;
}`;

async function compile(include: string[], lookup: Record<string, unknown>): Promise<void> {
  const compiler = new URL("../../node_modules/.bin/tsc", import.meta.url).pathname;
  const options = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] };
  const libraries = { target: "ES2022", lib: ["ES2022", "DOM", "DOM.Iterable"] };
  const config = { compilerOptions: { ...options, ...libraries, ...lookup }, include };
  await Bun.write(join(project.folder, "tsconfig.json"), JSON.stringify(config));
  await run([compiler, "-p", "tsconfig.json"], project.folder);
}
