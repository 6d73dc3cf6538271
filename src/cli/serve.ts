import type { Service } from "../compose.ts";
import { type Config, readConfig } from "../config.ts";
import { systemClock } from "../engines.ts";
import { secretsOf } from "../log/secrets.ts";
import { openProcessLog, type ServiceLog } from "../log.ts";
import { print } from "../output.ts";
import { packageVersion } from "../version.ts";
import type { Input } from "./command.ts";
import { currentProgram } from "./program.ts";
import { fillEmptyStore } from "./sample.ts";
import { createSignalCounter, isIgnored } from "./signals.ts";
import { firstWelcome, laterWelcome } from "./welcome.ts";

export function serve({ settings }: Input): Promise<number> {
  return serveUntilStopped(readConfig(settings), async () => []);
}

/**
 * Serves like `serve`, after adding sample data and a key to an empty store. Says what to do next.
 * `npm start` runs it.
 */
export function quickstart({ settings }: Input): Promise<number> {
  return serveUntilStopped(readConfig(settings), async ({ store, baseUrl }, config) => {
    const keys = await fillEmptyStore(store, config);
    return keys ? firstWelcome(baseUrl, keys) : laterWelcome(baseUrl, config, settings);
  });
}

async function serveUntilStopped(
  config: Config,
  /** Returns the lines to print after the address. */
  prepare: (service: Service, config: Config) => Promise<readonly string[]>,
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
    droppedLines: () => log.droppedLines,
    program: currentProgram(),
  });
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

function logStart({ baseUrl, metricsUrl, engine, log }: Service, { environment }: Config): void {
  const { name, schema } = engine;
  const version = packageVersion();
  log("started", { version, environment, address: baseUrl, metricsUrl, engine: name, schema });
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
