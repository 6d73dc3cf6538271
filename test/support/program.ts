import { resolve } from "node:path";
import { type HereOptions, runHere } from "./commands.ts";
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
  receiver ??= receiveCommands();
  return [process.execPath, resolve(import.meta.dir, "program-here.ts"), receiver];
}

let receiver: string | undefined;

/** Runs the commands that are sent to an address. Returns the address. */
function receiveCommands(): string {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request, self) {
      // A command may take longer than a connection may be idle.
      self.timeout(request, 0);
      const { words, variables, input } = (await request.json()) as SentCommand;
      const options: HereOptions = { env: variables, stdin: Buffer.from(input, "base64") };
      return Response.json(await runHere(words, options));
    },
  });
  server.unref();
  return server.url.href;
}
