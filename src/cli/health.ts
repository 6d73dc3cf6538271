import { readConfig } from "../config.ts";
import { print, printError } from "../output.ts";
import { command, json } from "./command.ts";

/** Longer than a service that is ready takes to respond. */
const timeoutMs = 2_500;

/**
 * Asks a service on this machine whether it is ready. Returns exit code 1 if not. For health checks of
 * containers, which have no other program for that.
 */
export const healthCommand = command({
  name: "health",
  summary: "Checks whether the service on this machine is ready.",
  examples: ["petstore health", "petstore health --port 9000 --json"],
  flags: { json },
  settings: ["configFile", "port", "host", "tlsCertFile", "tlsKeyFile"],
  async run({ flags, settings }) {
    const { host, port, tlsCertFile } = readConfig(settings);
    const url = `${tlsCertFile ? "https" : "http"}://${reachable(host)}:${port}/readyz`;
    const problem = await findProblem(url);
    if (flags.json) print(JSON.stringify({ url, ready: problem === undefined, problem }));
    else if (problem === undefined) print(`The service at ${url} is ready.`);
    else printError(`the service at ${url} is not ready: ${problem}`);
    return problem === undefined ? 0 : 1;
  },
});

async function findProblem(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "manual",
      // The certificate is for another name than that of this machine.
      tls: { rejectUnauthorized: false },
    });
    return response.status === 200 ? undefined : `it returned ${response.status}`;
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException;
    if (name === "TimeoutError") return `no response within ${timeoutMs} ms`;
    if (code === "ConnectionRefused" || code === "ECONNREFUSED") {
      return "nothing listens there; start the service, or correct --host and --port";
    }
    if (code === "ECONNRESET") {
      return "the connection was closed; if the service speaks HTTPS, set --tls-cert and --tls-key";
    }
    return message;
  }
}

/** An address on which a service that listens on `host` can be reached from the same machine. */
export function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::" || host === "[::]") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
