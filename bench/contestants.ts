// Starts the service, the floor and the peer, each on loopback with separate data.
import { mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkCatalogue, writeCatalogue } from "./catalogue.ts";
import { run, start, stop } from "./processes.ts";
import { authorization, type Contestant, freePort, startServer } from "./start-server.ts";

export interface Service extends Contestant {
  database: string;
}

export interface ContestantOptions {
  /** Each contestant creates a directory for its database in this one. */
  directory: string;
  entries: number;
  /** A database address; a new SQLite file unless given. */
  database?: string;
  /** The name of the service in the report. */
  name?: string;
  /** The checkout to run the service from; this one unless given. */
  checkout?: string;
  /** Additional environment variables of the server, for example for slower flushes. */
  env?: Record<string, string>;
  /** Where the server's standard error goes; read and forgotten unless given. */
  stderrFile?: string;
}

const root = dirname(import.meta.dir);
const unreachableLimit = "1000000000";

/** Starts the service as an operator does: the command line creates its data and its key. */
export async function startService(options: ContestantOptions): Promise<Service> {
  const petstore = commandOf(options);
  const directory = mkdtempSync(join(options.directory, "service-"));
  const database = options.database ?? `sqlite:${join(directory, "petstore.db")}`;
  const catalogue = writeCatalogue(options.directory, options.entries);
  await importCatalogue(catalogue, database, petstore);
  const created = await run(
    [petstore, "keys", "create", "--name", "bench", "--plan", "enterprise"].concat([
      "--per-minute",
      unreachableLimit,
      "--per-day",
      unreachableLimit,
      "--json",
      "--database",
      database,
    ]),
  );
  const { key } = JSON.parse(created) as { key: string };
  return startServiceOn(options, database, key);
}

export async function importCatalogue(
  catalogue: string,
  database: string,
  petstore = commandOf({}),
): Promise<void> {
  await run([petstore, "pets", "import", catalogue, "--database", database]);
}

/** Starts the service on an existing database, like a restart. */
export async function startServiceOn(
  options: ContestantOptions,
  database: string,
  key: string,
): Promise<Service> {
  const port = await freePort();
  const command = [commandOf(options), "serve", "--host", "127.0.0.1", "--port", String(port)];
  command.push("--database", database);
  const name = options.name ?? "service";
  const started = await startServer(name, command, { host: "127.0.0.1", port, key }, options);
  return { ...started, database };
}

function commandOf({ checkout = root }: Pick<ContestantOptions, "checkout">): string {
  return join(checkout, "bin/petstore");
}

export async function startPeer(options: ContestantOptions): Promise<Contestant> {
  const directory = mkdtempSync(join(options.directory, "peer-"));
  const port = await freePort();
  const key = "peer_key_of_the_benchmark_0123456789";
  const command = ["node", join(import.meta.dir, "peers/server.mjs"), "--port", String(port)];
  command.push("--store", options.database ?? `sqlite:${join(directory, "peer.db")}`);
  command.push("--key", key, "--catalogue", writeCatalogue(options.directory, options.entries));
  return startServer("peer", command, { host: "127.0.0.1", port, key }, options);
}

/** Starts the floor with the body of the service, and with its headers except those that Bun adds. */
export async function startFloor(
  service: Contestant,
  directory: string,
  program = "floor.ts",
): Promise<Contestant> {
  const response = await fetchList(service);
  const headers = Object.fromEntries(response.headers);
  for (const added of ["content-length", "transfer-encoding", "date"]) delete headers[added];
  const headersFile = join(directory, "floor-headers.json");
  const bodyFile = join(directory, "floor-body.json");
  writeFileSync(headersFile, JSON.stringify(headers));
  writeFileSync(bodyFile, await response.bytes());

  const startedAt = performance.now();
  const ready = Promise.withResolvers<number>();
  const child = start({
    command: [process.execPath, join(import.meta.dir, program), headersFile, bodyFile],
    onMessage: (message) => ready.resolve((message as { port: number }).port),
  });
  child.exited.then(() =>
    ready.reject(new Error(`The floor did not start: ${child.stderrTail()}`)),
  );
  const floor: Contestant = {
    name: "floor",
    pid: child.pid,
    target: { ...service.target, port: await ready.promise },
    startMs: performance.now() - startedAt,
    stop: () => stop(child),
  };
  const names = [...(await fetchList(floor)).headers.keys()];
  const missing = Object.keys(headers).filter((name) => !names.includes(name));
  if (missing.length > 0)
    throw new Error(`The floor does not send these headers: ${missing.join(", ")}.`);
  return floor;
}

/** Fetches and checks the list, and saves it as the expected body of later responses. */
export async function captureList(
  contestant: Contestant,
  directory: string,
  entries: number,
  check: (body: string, entries: number) => void = checkCatalogue,
): Promise<string> {
  const response = await fetchList(contestant);
  if (response.status !== 200) {
    throw new Error(`${contestant.name} returned status ${response.status}.`);
  }
  const body = await response.text();
  check(body, entries);
  const file = join(directory, `expected-${contestant.name}-${entries}.json`);
  writeFileSync(file, body);
  return file;
}

function fetchList({ target }: Contestant): Promise<Response> {
  const url = `http://${target.host}:${target.port}/v1/inventory`;
  return fetch(url, { headers: authorization(target) });
}
