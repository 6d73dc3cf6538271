import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type HereOptions, runHere } from "./commands.ts";
import { processEnd } from "./process-end.ts";
import { surfaceEngine } from "./service.ts";

/** How a service in the process of the tests starts its own commands. */
export const program = [process.execPath, resolve(import.meta.dir, "../../src/main.ts")];

/** What a process that stands for a command sends to the process of the tests. */
export interface SentCommand {
  readonly words: readonly string[];
  readonly variables: Record<string, string>;
  /** Standard input, in base64. */
  readonly input: string;
}

/**
 * The same, but the process only has the command run in the process of the tests, which has loaded all code
 * already. Loading it takes ten times the processor time of such a process. The second run of the tests,
 * on PostgreSQL, starts the real commands.
 */
export function programHere(): readonly string[] {
  if (surfaceEngine === "postgres") return program;
  socket ??= receiveCommands();
  return [process.execPath, resolve(import.meta.dir, "program-here.ts"), socket];
}

let socket: string | undefined;

/** Runs what is sent to a socket. Returns its path. */
function receiveCommands(): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-program-"));
  const unix = join(folder, "socket");
  const server = Bun.serve({
    unix,
    async fetch(request, self) {
      // A command may take longer than a connection may be idle.
      self.timeout(request, 0);
      const { words, variables, input } = (await request.json()) as SentCommand;
      const options: HereOptions = { env: variables, stdin: Buffer.from(input, "base64") };
      return Response.json(await runHere(words, options));
    },
  });
  server.unref();
  processEnd.work.push(async () => {
    await server.stop(true);
    rmSync(folder, { recursive: true, force: true });
  });
  return unix;
}
