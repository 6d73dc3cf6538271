import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiKey, ScriptedServer } from "./scripted-server.ts";

const clientFolder = new URL("../../../client", import.meta.url).pathname;

export interface Project {
  readonly folder: string;
  /** The package as a file, as npm would publish it. */
  readonly tarball: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Packs the client as npm would publish it and installs it into an empty project. */
export async function installPackedClient(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), "petstore-client-"));
  const packed = await run(["npm", "pack", "--json", "--pack-destination", folder], clientFolder);
  const tarball = join(folder, /"filename":\s*"([^"]+\.tgz)"/.exec(packed)?.[1] ?? "");
  await Bun.write(join(folder, "package.json"), '{"name":"empty","private":true,"type":"module"}');
  // Offline: the package has no dependencies, so nothing may have to be fetched.
  await run(["npm", "install", "--offline", "--no-audit", "--no-fund", tarball], folder);
  return {
    folder,
    tarball,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Runs a command to its end; gives what it printed, throws unless it exits with 0. */
export async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: "pipe", stderr: "pipe" });
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
    import { journey } from "./journey.js";
    console.log(JSON.stringify(await journey(client, BASE_URL, API_KEY)));`,
  "main.cjs": `const client = require("petstore-inventory-client");
    import("./journey.js")
      .then(({ journey }) => journey(client, BASE_URL, API_KEY))
      .then((report) => console.log(JSON.stringify(report)));`,
};

/** Runs the journey in that project, with the package imported or required; gives its report. */
export async function journeyOn(
  runtime: readonly string[],
  file: keyof typeof programs,
  project: Project,
  baseUrl: string,
  apiKey: string,
): Promise<unknown> {
  const journey = await Bun.file(new URL("journey.js", import.meta.url)).text();
  await Bun.write(join(project.folder, "journey.js"), journey);
  const program = programs[file]
    .replace("BASE_URL", JSON.stringify(baseUrl))
    .replace("API_KEY", JSON.stringify(apiKey));
  await Bun.write(join(project.folder, file), program);
  return JSON.parse(await run([...runtime, file], project.folder));
}

/** Has a server redirect an update elsewhere; gives what the client says and who got a request. */
export async function redirectOn(runtime: readonly string[], project: Project) {
  await using server = new ScriptedServer();
  await using stranger = new ScriptedServer();
  const location = `${stranger.baseUrl}/inventory/1`;
  server.play(() => new Response(null, { status: 307, headers: { location } }));
  const options = JSON.stringify({ baseUrl: server.baseUrl, apiKey });
  const program = `import { PetstoreClient } from "petstore-inventory-client";
    const client = new PetstoreClient(${options});
    await client.updateInventory(1, { quantity: 1 }).catch((error) => console.log(error.message));`;
  await Bun.write(join(project.folder, "redirect.mjs"), program);
  const message = await run([...runtime, "redirect.mjs"], project.folder);
  return {
    isRefused: message.includes(`status 307 redirects to ${new URL(location).origin}`),
    sent: server.received.length,
    strayed: stranger.received.length,
  };
}

export const expectedRedirect = { isRefused: true, sent: 1, strayed: 0 };

/** The journey's report on a service with those three pets and five orders. */
export const expectedReport = {
  ids: ["1", "2", "9223372036854775807"],
  isKept: true,
  isUpdated: true,
  isSeen: true,
  isSamePet: true,
  orders: [7, 6, 5, 4, 3].map((digit) => `922337203685477580${digit}`),
  paged: [7, 6, 5, 4, 3].map((digit) => `922337203685477580${digit}`),
  missing: "not_found",
  hasRequestId: true,
  refused: "unauthorized",
  parallel: 8,
  hasLimits: true,
  isWritten: true,
  statuses: [304, 304],
  warnings: ["getPet"],
};
