import { dirname, relative, resolve } from "node:path";
import { commandLine } from "../command-lines.ts";
import type { Service } from "../compose.ts";
import { type Config, readConfig } from "../config.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { secretsOf } from "../log/secrets.ts";
import { openProcessLog, type ServiceLog } from "../log.ts";
import { systemClock } from "../opening/engines.ts";
import { sqlitePath } from "../opening/store-file.ts";
import { inspectStore } from "../opening/stores.ts";
import { print } from "../output.ts";
import { settingNames } from "../settings.ts";
import { otherEnvironment, schemaNumber } from "../store/schema.ts";
import { packageVersion } from "../version.ts";
import { command } from "./command.ts";
import { parseOptional } from "./flags.ts";
import { createSignalCounter, isIgnored } from "./interruption.ts";
import { type FirstKeys, fillEmptyStore, samplePlan } from "./sample.ts";

export const serveCommand = command({
  name: "serve",
  summary: "Serves the API of one environment until a signal stops it.",
  examples: [
    "petstore serve",
    "petstore serve --port 9000 --database sqlite:/var/lib/petstore/production.db",
  ],
  changes: true,
  flags: {
    "accept-older": {
      placeholder: "SEQ",
      description:
        "Start on SQLite without the acknowledged ledger rows after SEQ, which are lost.",
    },
  },
  settings: settingNames,
  run({ flags, settings }) {
    const acceptOlder = parseOptional("--accept-older", flags["accept-older"], 0);
    return serveUntilStopped(readConfig(settings), async () => [], acceptOlder);
  },
});

/**
 * Serves like `serve`, after adding sample data and two keys to an empty store. Says what to do next.
 * `npm start` runs it.
 */
export const quickstartCommand = command({
  name: "quickstart",
  summary: "Same as `serve`, but adds sample data and two keys to an empty store.",
  examples: ["petstore quickstart --port 9000"],
  changes: true,
  settings: settingNames,
  run: ({ settings }) =>
    serveUntilStopped(readConfig(settings), async ({ store, baseUrl }, config) => {
      const keys = await fillEmptyStore(store, config);
      return keys ? firstWelcome(baseUrl, keys) : laterWelcome(baseUrl, config);
    }),
});

async function serveUntilStopped(
  config: Config,
  /** Returns the lines to print after the address. */
  prepare: (service: Service, config: Config) => Promise<readonly string[]>,
  acceptOlder?: number,
): Promise<number> {
  // Loaded here, because the other commands need no HTTP server and should start fast.
  const { startService } = await import("../compose.ts");
  const { logFormat: format, logLevel: level } = config;
  const log = openProcessLog({ format, level, secrets: secretsOf(config) });
  const service = await startService({
    config,
    clock: systemClock,
    log,
    requestLines: log.requestLines,
    droppedLines: log.droppedLines,
    program: currentProgram(),
    acceptOlder,
  }).catch((error) => throwFor(config, error));
  logStart(service, config);
  // Listens for signals before it prints the line that supervisors wait for.
  const stopped = untilStopped(service, log);
  // Not before the start: if the port is taken, a new key would be stored and never shown.
  const lines = await prepare(service, config);
  print(`Petstore inventory (${config.environment}) is serving at ${service.baseUrl}`);
  if (service.metricsUrl) print(`Metrics are at ${service.metricsUrl}`);
  for (const line of lines) print(line);
  return stopped;
}

const inspectionMs = 5_000;

/** Names the other environment if the settings are its own: its service then has the ports and the store. */
async function throwFor(config: Config, error: unknown): Promise<never> {
  // A store that cannot be reached would be waited for again.
  if (!(error instanceof ServiceError) || error.reason) throw error;
  const inspection = await inspectStore(config, inspectionMs).catch(() => undefined);
  const found = await inspection?.findEnvironment().catch(() => undefined);
  inspection?.close();
  const isOther = found !== undefined && found !== config.environment;
  throw isOther ? otherEnvironment(found, config.environment) : error;
}

function logStart({ baseUrl, metricsUrl, engine, log }: Service, { environment }: Config): void {
  const version = packageVersion();
  log("started", {
    version,
    environment,
    address: baseUrl,
    metricsUrl,
    engine: engine.name,
    schema: schemaNumber,
  });
}

/** Resolves when a signal has stopped the service. A second signal ends the process at once. */
function untilStopped(service: Service, log: ServiceLog): Promise<number> {
  return new Promise((resolve, reject) => {
    const count = createSignalCounter();
    const onSignal = (signal: string) => {
      const place = count();
      if (place === "later") process.exit(1);
      if (place === "repeated") return;
      service.log("stopping", { signal });
      const stoppedService = service.stop().then(() => {
        log("stopped");
        return log.flush();
      });
      stoppedService.then(() => {
        resolve(0);
        // Sockets that are still open after the grace period would keep the process alive.
        process.exit(0);
      }, reject);
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      if (!isIgnored(signal)) process.on(signal, () => onSignal(signal));
    }
  });
}

/**
 * The command line that started this program, up to the name of the command. A compiled executable
 * contains its script, so the path of the script is not part of its command line.
 */
export function currentProgram(): readonly string[] {
  const [, script = ""] = process.argv;
  return isExecutable(script)
    ? [process.execPath]
    : [process.execPath, ...process.execArgv, script];
}

/** What to type to run this program again: its path below the current folder, or its name. */
export function programName(): string {
  const [, script = ""] = process.argv;
  const path = isExecutable(script)
    ? process.execPath
    : resolve(dirname(script), "../bin/petstore");
  const below = relative(process.cwd(), path);
  if (below.startsWith("..")) return "petstore";
  return below.includes("/") ? below : `./${below}`;
}

function isExecutable(script: string): boolean {
  return script.startsWith("/$bunfs/") || script.startsWith("B:\\~BUN\\");
}

/** What `quickstart` prints after it has filled an empty store. */
export function firstWelcome(baseUrl: string, keys: FirstKeys): readonly string[] {
  return `
The store was empty. It now has sample data, an operator key and an API key (plan ${samplePlan}).
The keys are shown only once.

Console:       ${new URL("/console", baseUrl)}
Operator key:  ${keys.operator}

API reference: ${new URL("/docs", baseUrl)}
API key:       ${keys.api}

Try the API:

  curl -H "Authorization: Bearer ${keys.api}" ${baseUrl}/inventory
`.split("\n");
}

/** What `quickstart` prints on every later start. */
export function laterWelcome(baseUrl: string, config: Config): readonly string[] {
  const { environment } = config;
  // Also if a variable has it: the next shell may not.
  const given = { ...config.given, env: environment === "production" ? "" : environment };
  const create = (...terms: string[]) =>
    commandLine({ given }, ["keys", "create", "--name", "NAME", ...terms], programName());
  return [
    `Console:        ${new URL("/console", baseUrl)}`,
    `API reference:  ${new URL("/docs", baseUrl)}`,
    `Database:       ${sqlitePath(config) ?? "PostgreSQL"}`,
    `Another key:    ${create("--plan", samplePlan)}`,
    `Operator key:   ${create("--operator")}`,
  ];
}
