import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import manifest from "../../package.json";
import { openWorkspace, type Workspace } from "../support/process.ts";

/**
 * The executable of `npm run build:binary`, alone in an empty folder, without Node and npm on the PATH.
 * The commands in docs/operating.md use it too.
 */

let place: Workspace;
let options: { readonly command: readonly string[]; readonly env: Record<string, string> };

beforeAll(async () => {
  place = openWorkspace();
  const executable = place.path("petstore");
  const build = Bun.spawn([resolve("bin/build-binary"), executable], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await build.exited).toBe(0);
  // Files that Bun reads in the current folder unless it is told not to.
  await Bun.write(place.path(".env"), "PORT=1\n");
  await Bun.write(place.path("bunfig.toml"), 'preload = ["./preloaded.ts"]\n');
  await Bun.write(place.path("preloaded.ts"), 'console.log("preloaded");\n');
  options = { command: [executable], env: { PATH: "/nowhere" } };
});

afterAll(() => place.leave());

const run = (...words: string[]) => place.run(words, options);

test("the executable knows its version and reads no file of the folder it is started in", async () => {
  expect(await run("--version")).toEqual({ code: 0, out: `${manifest.version}\n`, err: "" });
});

test("the executable imports, serves with its writing thread, and shows /docs and /console", async () => {
  await Bun.write(place.path("pets.csv"), "petId,name,quantity\n1,Rex,3\n2,Luna,1\n");
  expect((await run("pets", "import", "pets.csv")).code).toBe(0);
  const created = await run("keys", "create", "--name", "till", "--plan", "pro", "--json");
  const { key } = JSON.parse(created.out) as { key: string };
  const operator = await run("keys", "create", "--name", "Ada", "--operator", "--json");
  const service = await place.serve(["serve", "--port", "0"], options);
  const headers = { Authorization: `Bearer ${key}` };
  const updated = await fetch(`${service.baseUrl}/inventory/1`, {
    method: "PATCH",
    headers,
    body: '{"quantity":7}',
  });
  expect(updated.status).toBe(200);
  const listed = await fetch(`${service.baseUrl}/inventory`, { headers });
  expect(await listed.text()).toContain('{"petId":1,"quantity":7,"status":"available"}');
  const imported = await fetch(new URL("/admin/pets/import?format=csv", service.baseUrl), {
    method: "POST",
    headers: { Authorization: `Bearer ${JSON.parse(operator.out).key}` },
    body: "petId,name\n3,Max\n",
  });
  expect(await imported.json()).toMatchObject({ created: 1 });
  const pages = {
    "/docs": "<!doctype html>",
    "/docs/style.css": "--accent:",
    "/docs/icon.svg": "<svg",
  };
  const scripts = {
    "/docs/browser/main.ts": "import",
    "/docs/browser/request.ts": "export",
    "/docs/browser/json.ts": "export",
  };
  const console = { "/console": 'src="/console/assets/main-', "/": 'href="/console"' };
  const documents = { "/openapi.json": '{"openapi"', "/openapi-3.0.json": '{"openapi"' };
  for (const [path, start] of Object.entries({ ...pages, ...scripts, ...console, ...documents })) {
    const response = await fetch(new URL(path, service.baseUrl));
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    expect((await response.text()).toLowerCase()).toContain(start.toLowerCase());
  }
  const words = ["webhooks", "listen", "--base-url", service.baseUrl];
  const listening = place.start([...words, "--forward-to", "http://127.0.0.1:3000/"], {
    ...options,
    env: { ...options.env, API_KEY: key },
  });
  await listening.wrote("connected");
  listening.kill("SIGINT");
  expect(await listening.exited).toBe(0);
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
});
