import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const clientFolder = new URL("../../client", import.meta.url).pathname;

export interface Project {
  readonly folder: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Packs the client as npm would publish it and installs it into an empty project. */
export async function installPackedClient(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), "petstore-client-"));
  const packed = await run(["npm", "pack", "--json", "--pack-destination", folder], clientFolder);
  const file = /"filename":\s*"([^"]+\.tgz)"/.exec(packed)?.[1] ?? "";
  await Bun.write(join(folder, "package.json"), '{"name":"empty","private":true,"type":"module"}');
  // Offline: the package has no dependencies, so nothing may have to be fetched.
  await run(["npm", "install", "--offline", "--no-audit", "--no-fund", join(folder, file)], folder);
  return {
    folder,
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

/** Runs the journey in that project under Node or Bun; gives its report. */
export async function journeyOn(
  runtime: "node" | "bun",
  project: Project,
  baseUrl: string,
  apiKey: string,
): Promise<unknown> {
  const journey = await Bun.file(new URL("journey.js", import.meta.url)).text();
  await Bun.write(join(project.folder, "journey.js"), journey);
  const program = `
    import * as client from "petstore-inventory-client";
    import { journey } from "./journey.js";
    console.log(JSON.stringify(await journey(client, ${JSON.stringify(baseUrl)}, ${JSON.stringify(apiKey)})));`;
  await Bun.write(join(project.folder, "main.js"), program);
  const command = runtime === "bun" ? process.execPath : "node";
  return JSON.parse(await run([command, "main.js"], project.folder));
}

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
};
