import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiKey, ScriptedServer } from "./scripted-server.ts";

const clientFolder = new URL("../../../client", import.meta.url).pathname;

export interface Project {
  readonly folder: string;
  /** The path of the packed package. */
  readonly tarball: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Packs the client as npm publishes it, and installs it into an empty project. */
export async function installPackedClient(installer: keyof typeof installers): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), "petstore-client-"));
  const packed = await run(["npm", "pack", "--json", "--pack-destination", folder], clientFolder);
  const tarball = join(folder, /"filename":\s*"([^"]+\.tgz)"/.exec(packed)?.[1] ?? "");
  await Bun.write(join(folder, "package.json"), '{"name":"empty","private":true,"type":"module"}');
  // A cache of its own, because Bun may take a package with the same name and version from a shared one.
  const env = { BUN_INSTALL_CACHE_DIR: join(folder, "cache") };
  await run([...installers[installer], tarball], folder, env);
  return {
    folder,
    tarball,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The package has no dependencies, so the installation works offline. Bun takes a tenth of npm's time. */
const installers = {
  npm: ["npm", "install", "--offline", "--no-audit", "--no-fund"],
  bun: [process.execPath, "add"],
};

/** Runs a command; returns its output. Throws if the exit code is not 0. */
export async function run(
  command: string[],
  cwd: string,
  variables: Record<string, string> = {},
): Promise<string> {
  const env = { ...process.env, ...variables };
  const child = Bun.spawn(command, { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${errors}${output}`);
  return output;
}

const programs = {
  "main.mjs": `import * as client from "petstore-inventory-client";
    import { runScenario } from "./scenario.js";
    console.log(JSON.stringify(await runScenario(client, BASE_URL, API_KEY)));`,
  "main.cjs": `const client = require("petstore-inventory-client");
    import("./scenario.js")
      .then(({ runScenario }) => runScenario(client, BASE_URL, API_KEY))
      .then((report) => console.log(JSON.stringify(report)));`,
};

/** Runs the scenario in the project, with the package imported or required; returns its report. */
export async function runScenarioOn(
  runtime: readonly string[],
  file: keyof typeof programs,
  project: Project,
  baseUrl: string,
  apiKey: string,
): Promise<unknown> {
  const scenario = await Bun.file(new URL("scenario.js", import.meta.url)).text();
  await Bun.write(join(project.folder, "scenario.js"), scenario);
  const program = programs[file]
    .replace("BASE_URL", JSON.stringify(baseUrl))
    .replace("API_KEY", JSON.stringify(apiKey));
  await Bun.write(join(project.folder, file), program);
  return JSON.parse(await run([...runtime, file], project.folder));
}

/** Sends an update that is redirected to another host; returns how the client reacts. */
export async function runRedirectOn(runtime: readonly string[], project: Project) {
  await using server = new ScriptedServer();
  await using otherHost = new ScriptedServer();
  const location = `${otherHost.baseUrl}/inventory/1`;
  server.enqueue(() => new Response(null, { status: 307, headers: { location } }));
  const options = JSON.stringify({ baseUrl: server.baseUrl, apiKey });
  const program = `import { PetstoreClient } from "petstore-inventory-client";
    const client = new PetstoreClient(${options});
    await client.updateInventory(1, { quantity: 1 }).catch((error) => console.log(error.message));`;
  await Bun.write(join(project.folder, "redirect.mjs"), program);
  const message = await run([...runtime, "redirect.mjs"], project.folder);
  return {
    isReported: message.includes(`status 307 redirects to ${new URL(location).origin}`),
    requests: server.received.length,
    requestsToOtherHost: otherHost.received.length,
  };
}

export const expectedRedirect = { isReported: true, requests: 1, requestsToOtherHost: 0 };

/** The report of the scenario on a StockedService. */
export const expectedReport = {
  ids: ["1", "2", "9223372036854775807"],
  isCached: true,
  isUpdated: true,
  isUpdateListed: true,
  isSamePet: true,
  orders: [7, 6, 5, 4, 3].map((digit) => `922337203685477580${digit}`),
  iterated: [7, 6, 5, 4, 3].map((digit) => `922337203685477580${digit}`),
  missing: "not_found",
  hasRequestId: true,
  unauthorized: "unauthorized",
  parallel: 8,
  hasLimits: true,
  isJsonExact: true,
  statuses: [304, 304],
  recounted: 30,
  conflict: 30,
  adjusted: 32,
  sold: ["9223372036854775807", 31, true],
  reasons: ["sale", null, "recount at 3 °C"],
  rows: [-2, -1, 0],
  watched: ["start", -1, 0],
  verified: [["9223372036854775807", "3 °C"]],
  forged: "wrong_signature",
  past: 32,
  differences: [[32, 31]],
  deprecated: ["getPet"],
};
