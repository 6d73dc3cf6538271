// Starts the service, the floor and the peer, each on loopback and on data of its own.
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { checkCatalogue, writeCatalogue } from "./catalogue.ts";
import { run, start, stop } from "./processes.ts";
import type { Target } from "./scripts.ts";

export interface Contestant {
  name: string;
  pid: number;
  target: Target;
  startMs: number;
  stop(): Promise<void>;
}

export interface Service extends Contestant {
  database: string;
}

export interface Setting {
  /** A directory for the database, made afresh for each contestant. */
  directory: string;
  entries: number;
  /** A database address, when it is not a SQLite file of the contestant's own. */
  database?: string;
  /** What the service is called in the report. */
  name?: string;
  /** Another checkout to run the service from; this one unless given. */
  checkout?: string;
  /** Extra environment of the server alone, as for a slower flush. */
  env?: Record<string, string>;
}

const root = dirname(import.meta.dir);
const noLimit = "1000000000";

/** The service exactly as an operator would run it: the command line makes its data and its key. */
export async function startService(setting: Setting): Promise<Service> {
  const petstore = commandOf(setting);
  const directory = mkdtempSync(join(setting.directory, "service-"));
  const database = setting.database ?? `sqlite:${join(directory, "petstore.db")}`;
  const catalogue = writeCatalogue(setting.directory, setting.entries);
  await importCatalogue(catalogue, database, petstore);
  const created = await run(
    [petstore, "keys", "create", "--name", "bench", "--plan", "enterprise"].concat([
      "--per-minute",
      noLimit,
      "--per-day",
      noLimit,
      "--json",
      "--database",
      database,
    ]),
  );
  const { key } = JSON.parse(created) as { key: string };
  return startServiceOn(setting, database, key);
}

export async function importCatalogue(
  catalogue: string,
  database: string,
  petstore = commandOf({}),
): Promise<void> {
  await run([petstore, "pets", "import", catalogue, "--database", database]);
}

/** Starts the service on a database that is already there, as a restart would. */
export async function startServiceOn(
  setting: Setting,
  database: string,
  key: string,
): Promise<Service> {
  const port = await freePort();
  const command = [commandOf(setting), "serve", "--host", "127.0.0.1", "--port", String(port)];
  command.push("--database", database);
  const name = setting.name ?? "service";
  const started = await startAndWait(name, command, { host: "127.0.0.1", port, key }, setting);
  return { ...started, database };
}

function commandOf({ checkout = root }: Pick<Setting, "checkout">): string {
  return join(checkout, "bin/petstore");
}

export async function startPeer(setting: Setting): Promise<Contestant> {
  const directory = mkdtempSync(join(setting.directory, "peer-"));
  const port = await freePort();
  const key = "peer_key_of_the_benchmark_0123456789";
  const command = ["node", join(import.meta.dir, "peers/server.mjs"), "--port", String(port)];
  command.push("--store", setting.database ?? `sqlite:${join(directory, "peer.db")}`);
  command.push("--key", key, "--catalogue", writeCatalogue(setting.directory, setting.entries));
  return startAndWait("peer", command, { host: "127.0.0.1", port, key }, setting);
}

/** The floor sends what the service sent: its bytes, and every header that Bun does not add itself. */
export async function startFloor(service: Contestant, directory: string): Promise<Contestant> {
  const answer = await fetchList(service);
  const headers = Object.fromEntries(answer.headers);
  for (const own of ["content-length", "transfer-encoding", "date"]) delete headers[own];
  const headersFile = join(directory, "floor-headers.json");
  const bodyFile = join(directory, "floor-body.json");
  writeFileSync(headersFile, JSON.stringify(headers));
  writeFileSync(bodyFile, await answer.bytes());

  const startedAt = performance.now();
  const ready = Promise.withResolvers<number>();
  const child = start({
    command: [process.execPath, join(import.meta.dir, "floor.ts"), headersFile, bodyFile],
    onMessage: (message) => ready.resolve((message as { port: number }).port),
  });
  child.exited.then(() => ready.reject(new Error(`The floor did not start: ${child.lastWords()}`)));
  const floor: Contestant = {
    name: "floor",
    pid: child.pid,
    target: { ...service.target, port: await ready.promise },
    startMs: performance.now() - startedAt,
    stop: () => stop(child),
  };
  const names = [...(await fetchList(floor)).headers.keys()];
  const missing = Object.keys(headers).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`The floor does not send ${missing.join(", ")}.`);
  return floor;
}

/** Fetches the list, checks it and keeps the bytes that answers to come must have. */
export async function captureList(
  contestant: Contestant,
  directory: string,
  entries: number,
  check: (body: string, entries: number) => void = checkCatalogue,
): Promise<string> {
  const answer = await fetchList(contestant);
  if (answer.status !== 200) throw new Error(`${contestant.name} answered ${answer.status}.`);
  const body = await answer.text();
  check(body, entries);
  const file = join(directory, `expected-${contestant.name}-${entries}.json`);
  writeFileSync(file, body);
  return file;
}

function fetchList({ target }: Contestant): Promise<Response> {
  const url = `http://${target.host}:${target.port}/v1/inventory`;
  return fetch(url, { headers: authorization(target) });
}

function authorization(target: Target): Record<string, string> {
  return { authorization: `Bearer ${target.key}`, "accept-encoding": "identity" };
}

async function startAndWait(
  name: string,
  command: string[],
  target: Target,
  setting: Setting,
): Promise<Contestant> {
  const startedAt = performance.now();
  const child = start({ command, ...(setting.env === undefined ? {} : { env: setting.env }) });
  let ended = false;
  child.exited.then(() => {
    ended = true;
  });
  const url = `http://${target.host}:${target.port}/readyz`;
  while (!(await isReady(url, target))) {
    if (ended) throw new Error(`${name} did not start: ${child.lastWords()}`);
    if (performance.now() - startedAt > 120_000)
      throw new Error(`${name} is not ready after 120 s.`);
    await Bun.sleep(5);
  }
  const startMs = performance.now() - startedAt;
  return { name, pid: child.pid, target, startMs, stop: () => stop(child) };
}

async function isReady(url: string, target: Target): Promise<boolean> {
  try {
    return (await fetch(url, { headers: authorization(target) })).status === 200;
  } catch {
    return false;
  }
}

/** A port nobody listens on now; the server that gets it opens it a moment later. */
export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
}
