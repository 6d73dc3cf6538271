import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { closeBrowser } from "../support/browser.ts";
import {
  expectedRedirect,
  expectedReport,
  installPackedClient,
  type Project,
  run,
  runRedirectOn,
  runScenarioOn,
} from "../support/client/package.ts";
import { PackageSite, runInBrowser, runScenarioInBrowser } from "../support/client/package-site.ts";
import {
  type ReadmeExample,
  readReadmeExamples,
  runReadmeExamples,
} from "../support/client/readme-examples.ts";
import { ScriptedServer } from "../support/client/scripted-server.ts";
import { StockedService } from "../support/client/stocked-service.ts";

let project: Project;
let site: PackageSite;
let stocked: StockedService;
let examples: ReadmeExample[];

beforeAll(async () => {
  project = await installPackedClient("bun");
  site = new PackageSite(project);
  stocked = await StockedService.start({ "cors-origins": site.origin });
  examples = await readReadmeExamples();
});

afterAll(async () => {
  await closeBrowser();
  await stocked[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

// These tests come first, because they expect the initial counts.
describe("the examples in the README", () => {
  const printed: Readonly<Record<string, RegExp>> = {
    "List the stock": /^pet 1: 0 available\npet 2: 1 pending\npet 9223372036854775807: 7 sold\n$/,
    "Update a count": /^pet 1: 5 in stock\n$/,
    "Update only what you read": /^not set to 9: the count is now 8\n$/,
    "Change several pets at once": /^pet 1: 6 left\npet 2: 4 left\n$/,
    "See what changes would do": /^pet 1: 6 now, 1 then\n$/,
    "Read the history":
      /^6: 8 to 6 \(sale 17\)\n5: 5 to 8 \(null\)\n4: 0 to 5 \(delivery 42\)\n1: none to 0 \(test\)\n3 changes by imports\n$/,
    "Look at the past":
      /^3 entries before the last change\npet 2: 1 before, 4 now\nhash of all 7 changes: [0-9a-f]{64}\n$/,
    "Watch the changes":
      /^change 1: pet 1, 0 in stock\nchange 2: pet 2, 1 in stock\nchange 3: pet 9223372036854775807, 7 in stock\ncontinue later after \S+-3\n$/,
    "Receive webhooks": /^rejected: missing_header\n$/,
    "Find out what became of a request": /^refused, 0 changes\. \S.*\n$/,
    CommonJS: /^3 entries\n$/,
    "Load less code": /^4 in stock\n$/,
    "Compute a count": /^pet 1: 12 in stock\n$/,
    "Handle errors": /^no such pet \(status 404, request \S+\)\n$/,
    "Read the rate limit": /^59 of 60 left until \d{4}-\d\d-\d\dT\d\d:\d\d:00.000Z\n$/,
    "Iterate over all orders": /^5 orders not yet delivered\n$/,
    "Access the response": /^3 entries, request \S+\n$/,
    "Log requests": /^listInventory: 200\n$/,
    "Rotate the API key": /^3 entries\n$/,
    "Convert results to JSON":
      /^\{"petId":1,"quantity":12,"status":"available"\}\n\{"petId":1,.*,"shelf":"A3"\}\n$/,
  };

  test("run and print the expected output", async () => {
    expect(examples.map(({ title }) => title)).toEqual(Object.keys(printed));
    expect(Object.keys(printed).indexOf("CommonJS")).toBe(10);
    const outputs = await runReadmeExamples(
      project.folder,
      examples,
      stocked.service.baseUrl,
      async () => (await stocked.openSession()).apiKey,
    );
    for (const [title, pattern] of Object.entries(printed)) {
      expect(outputs.get(title)).toMatch(pattern);
    }
  });

  test("compile with the published types, with NodeNext and Preserve modules, as does CommonJS and without `exports`", async () => {
    for (const { title, extension, code } of examples) {
      if (extension !== "ts") continue;
      await Bun.write(join(project.folder, "typed", `${title}.ts`), code);
    }
    await Bun.write(join(project.folder, "typed", "node.d.ts"), nodeTypes);
    await Bun.write(join(project.folder, "typed", "required.cts"), typedProgram);
    await Bun.write(join(project.folder, "classic.ts"), typedProgram);
    // Equivalent to node10, which this compiler no longer supports.
    const classic = {
      module: "CommonJS",
      moduleResolution: "Bundler",
      resolvePackageJsonExports: false,
    };
    await compile([
      { include: ["typed"], lookup: { module: "NodeNext" } },
      { include: ["typed"], lookup: { module: "Preserve" } },
      { include: ["classic.ts"], lookup: classic },
    ]);
  });
});

describe("the packed client, installed into an empty project", () => {
  test("contains only its own files and has no dependencies", async () => {
    const modules = join(project.folder, "node_modules");
    expect((await readdir(modules)).filter((name) => !name.startsWith("."))).toEqual([
      "petstore-inventory-client",
    ]);
    const files = await readdir(join(modules, "petstore-inventory-client"));
    // Bun marks what it installed.
    expect(files.filter((name) => name !== ".bun-tag").sort()).toEqual([
      "LICENSE",
      "README.md",
      "dist",
      "package.json",
    ]);
  });

  test("imports only files that it contains", async () => {
    const dist = join(project.folder, "node_modules", "petstore-inventory-client", "dist");
    for (const format of ["esm", "cjs"]) {
      const files = (await readdir(join(dist, format))).filter((name) => name !== "package.json");
      expect(files.length).toBeGreaterThan(20);
      for (const file of files) {
        const text = await readFile(join(dist, format, file), "utf8");
        const targets = [...text.matchAll(/(?:from|import\(|require\()\s*"([^"\n]+)"/g)];
        // TypeScript before 5.0 rejects declarations that import a .ts file.
        const invalid = targets
          .map(([, to]) => to ?? "")
          .filter((to) => !to.endsWith(".js") || !existsSync(join(dist, format, to)));
        expect({ file, invalid }).toEqual({ file, invalid: [] });
      }
    }
  });

  test("adds at most 8 kB to a program that lists and updates, and less than the whole client does", async () => {
    const sizeOf = async (name: string, use: string) => {
      const file = join(project.folder, `${name}.js`);
      const options = '{ baseUrl: "http://127.0.0.1:1/v1", apiKey: "x" }';
      await Bun.write(
        file,
        `import { ${name} } from "petstore-inventory-client";
         const client = new ${name}(${options});
         ${use}`,
      );
      const { outputs } = await Bun.build({ entrypoints: [file], minify: true });
      return Bun.gzipSync(await outputs[0]!.arrayBuffer(), { level: 9 }).length;
    };
    const use = "client.listInventory(); client.updateInventory(1n, { quantity: 2 });";
    const small = await sizeOf("InventoryClient", use);
    expect(small).toBeLessThanOrEqual(8_000);
    expect(small).toBeLessThan(0.75 * (await sizeOf("PetstoreClient", use)));
  });

  // The README's examples import it under Bun.
  for (const [name, runtime, loading, file] of [
    ["node", "node", "imported", "main.mjs"],
    ["node", "node", "required", "main.cjs"],
    ["bun", process.execPath, "required", "main.cjs"],
  ] as const) {
    test(`works under ${name} when it is ${loading}`, async () => {
      const { apiKey } = await stocked.openSession();
      const report = await runScenarioOn([runtime], file, project, stocked.service.baseUrl, apiKey);
      expect(report).toEqual(expectedReport);
    });
  }

  test("does not follow redirects under node, and reports their target", async () => {
    expect(await runRedirectOn(["node"], project)).toEqual(expectedRedirect);
  });

  test("recognizes its errors in a program that both imports and requires it", async () => {
    const program = `const required = require("petstore-inventory-client");
      import("petstore-inventory-client").then((imported) => {
        const options = { baseUrl: "http://127.0.0.1:1/v1", apiKey: "x", attemptsMax: 1 };
        const error = new required.ApiError({ code: "gone", message: "", status: 410 });
        console.log(required === imported, error instanceof imported.ApiError, imported.isApiError(error));
        const conflict = new required.ConflictError(error, undefined);
        console.log(imported.isConflictError(conflict), imported.isApiError(conflict), imported.isConflictError(error));
        new imported.PetstoreClient(options).listInventory().catch((reason) => {
          console.log(reason instanceof required.NetworkError, required.isNetworkError(reason), required.isApiError(reason));
        });
      });`;
    await Bun.write(join(project.folder, "both.cjs"), program);
    const output = await run(["node", "both.cjs"], project.folder);
    expect(output).toBe("false false true\ntrue true false\nfalse true false\n");
  });

  test("works in a browser, from an origin that the service allows", async () => {
    const { apiKey } = await stocked.openSession();
    expect(await runScenarioInBrowser(site, stocked.service.baseUrl, apiKey)).toEqual(
      expectedReport,
    );
  });

  test("does not follow redirects in a browser, which hides their target", async () => {
    await using server = new ScriptedServer();
    await using otherHost = new ScriptedServer();
    const headers = {
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "authorization",
      location: `${otherHost.baseUrl}/inventory`,
    };
    server.enqueue(
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
    expect(otherHost.received).toEqual([]);
  });
});

/** Uses the types of the package, and fails to compile without them. */
const typedProgram = `import { isApiError, isConflictError, PetstoreClient, verifyWebhook } from "petstore-inventory-client";
  const client = new PetstoreClient({ baseUrl: "http://127.0.0.1:1/v1", apiKey: async () => "x" });
  export const first: Promise<bigint | undefined> = client.listInventory().then((list) => list[0]?.petId);
  export const status: Promise<number> = client.getPet(7n).withResponse().then(({ response }) => response.status);
  export const isMissing = (error: unknown) => isApiError(error) && error.code === "not_found";
  export const update = client.getInventory(7n).then(({ etag }) => client.updateInventory(7n, { quantity: 1 }, { ifMatch: etag }));
  export const current = (error: unknown) => (isConflictError(error) ? error.current?.quantity : undefined);
  export const watch = client.watch({ after: "a-1" });
  export const next: Promise<bigint | undefined> = watch.next().then(({ value }) => value.type === "change" ? value.change.petId : undefined);
  export const ids: Promise<bigint[]> = verifyWebhook({}, "", "whsec_").then(({ data }) => data.changes.map(({ petId }) => petId));
  // @ts-expect-error: a change has either a quantity or a delta
  client.applyChanges([{ petId: 7n, quantity: 1, delta: 1 }]);
  // @ts-expect-error: this line compiles only if the types were not found
  export const wrong: string = client.limits;`;

/** The only Node function that an example uses. The project does not install the types of Node. */
const nodeTypes = `declare module "node:fs/promises" {
  export function readFile(path: string, encoding: "utf8"): Promise<string>;
}`;

interface Compilation {
  readonly include: readonly string[];
  /** How the compiler finds the types of the package. */
  readonly lookup: Record<string, unknown>;
}

/** Compiles in one process. The types of the package are checked too, but not those of the compiler. */
async function compile(compilations: readonly Compilation[]): Promise<void> {
  const compiler = new URL("../../node_modules/.bin/tsc", import.meta.url).pathname;
  const options = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] };
  const libraries = {
    target: "ES2022",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    skipDefaultLibCheck: true,
  };
  const files = compilations.map((_, at) => `tsconfig.${at}.json`);
  for (const [at, { include, lookup }] of compilations.entries()) {
    const config = { compilerOptions: { ...options, ...libraries, ...lookup }, include };
    await Bun.write(join(project.folder, files[at]!), JSON.stringify(config));
  }
  await run([compiler, "--build", "--force", ...files], project.folder);
}
