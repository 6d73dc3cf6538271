import { type Service, startService, systemClock } from "../compose.ts";
import { type Config, readConfig, readFlags } from "../config.ts";
import { Refusal } from "../domain/errors.ts";
import type { Store } from "../domain/ports.ts";
import { logToStderr } from "../log.ts";
import { print } from "../output.ts";
import { fillEmptyStore } from "./sample.ts";

export function serve(words: string[]): Promise<number> {
  return run(configOf(words), async () => undefined);
}

/** What `npm start` does: as serve, but a store with nothing in it first gets a sample and a key. */
export function quickstart(words: string[]): Promise<number> {
  return run(configOf(words), fillEmptyStore);
}

function configOf(words: string[]): Config {
  const { flags, rest } = readFlags(words);
  if (rest.length > 0) throw new Refusal("invalid_request", `unexpected '${rest[0]}'`);
  return readConfig(flags);
}

async function run(
  config: Config,
  prepare: (store: Store, config: Config) => Promise<string | undefined>,
): Promise<number> {
  const service = await startService({ config, clock: systemClock, log: logToStderr });
  // Before anybody can know that it serves, and so before anybody would signal.
  const stopped = untilStopped(service);
  // Only once it serves: a key made before a port turned out to be taken would never be shown.
  const key = await prepare(service.store, config);
  print(`Petstore inventory (${config.environment}) is serving at ${service.baseUrl}`);
  if (key) for (const line of welcome(service.baseUrl, key)) print(line);
  return stopped;
}

function welcome(baseUrl: string, key: string): readonly string[] {
  return `
A sample catalogue was loaded. Your API key (plan Business), shown only this once:

  ${key}

Try it:

  curl -H "Authorization: Bearer ${key}" ${baseUrl}/inventory

Every operation, and a page to try them on: ${new URL("/docs", baseUrl)}
`.split("\n");
}

/** Resolves once a signal has stopped the service in good order; a second signal ends at once. */
function untilStopped(service: Service): Promise<number> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const onSignal = (signal: string) => {
      if (stopping) process.exit(1);
      stopping = true;
      logToStderr("stopping", { signal });
      service.stop().then(() => {
        resolve(0);
        // Sockets that outlived the grace period must not hold the process.
        process.exit(0);
      }, reject);
    };
    process.on("SIGTERM", () => onSignal("SIGTERM"));
    process.on("SIGINT", () => onSignal("SIGINT"));
  });
}
