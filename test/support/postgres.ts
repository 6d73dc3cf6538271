import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL, type Subprocess } from "bun";
import { findFreePort } from "./ports.ts";
import {
  findBinaries,
  makeDataFolder,
  makeServerFolder,
  serverIdentity,
} from "./postgres-binaries.ts";
import { createDatabase } from "./postgres-databases.ts";

export type PostgresOptions = {
  /**
   * Off by default. A killed server still keeps every commit, because the operating system has the
   * written pages; only a power failure would lose them.
   */
  fsync?: boolean;
  /** Further server settings, as for `postgres -c name=value`. */
  settings?: Record<string, string>;
  /**
   * Whether the server has a system identifier that no other server has. Off by default: servers
   * are copies of one cluster.
   */
  hasOwnIdentifier?: boolean;
  /** The folder for the data, for example on a small disk. */
  parent?: string;
};

/** Where a server is found by other processes. */
export interface PostgresAddress {
  readonly port: number;
  /** The folder with `initdb` and `postgres`. */
  readonly binaries: string;
  /** A cluster that is never started, for further servers. */
  readonly cluster: string;
}

/** A server that several processes may use. */
export interface SharedPostgres {
  readonly port: number;
  /** Connection string of a database, `postgres` unless named. */
  url(database?: string): string;
  /**
   * Creates a database with a unique name, copied from `template` if given. It exists until many
   * others were created and nothing is connected to it.
   */
  freshDatabase(template?: string): Promise<string>;
}

export type PostgresServer = SharedPostgres & {
  /** The process id of the running postmaster. */
  readonly pid: number;
  /** False after it was stopped, was killed or ended by itself. */
  readonly isRunning: boolean;
  readonly folder: string;
  /** The folder with `initdb` and `postgres`. */
  readonly binaries: string;
  readonly options: PostgresOptions;
  /** Shuts down cleanly and closes open connections. The data stays for `start`. */
  stop(): Promise<void>;
  /** Sends SIGKILL to the postmaster and all its backends, like a crash of the machine. */
  kill(): Promise<void>;
  /** Starts again on the same port and data after `stop` or `kill`. */
  start(): Promise<void>;
  restart(): Promise<void>;
  /** Suspends every server process: connections stay open and nothing responds. */
  pause(): void;
  resume(): void;
  /** Stops and deletes the data. Not needed at the end of a run, which deletes them too. */
  destroy(): Promise<void>;
  /** The processor time that the server used since its last start. Known once it has ended. */
  readonly cpuMs: number;
};

let shared: Promise<SharedPostgres> | undefined;

/** The server of a run with several processes, which test/run.ts has started. */
const ofRun = process.env.TEST_POSTGRES
  ? (JSON.parse(process.env.TEST_POSTGRES) as PostgresAddress)
  : undefined;

/** The one server of this test run. Tests that kill or pause a server start a separate one. */
export function sharedPostgres(): Promise<SharedPostgres> {
  shared ??= ofRun ? Promise.resolve(serverAt(ofRun.port)) : startPostgres();
  return shared;
}

function serverAt(port: number): SharedPostgres {
  const made = new Set<string>();
  const url = (database = "postgres") => `postgres://postgres@127.0.0.1:${port}/${database}`;
  // One connection for all databases that are made in a row: opening it costs a third of a database.
  const sql = new SQL(url(), { max: 1, idleTimeout: 1 });
  const freshDatabase = async (template?: string) => url(await createDatabase(sql, made, template));
  return { port, url, freshDatabase };
}

/** Starts a server for this process and others, and returns where they find it. */
export async function startSharedPostgres(): Promise<[PostgresServer, PostgresAddress]> {
  const server = await startPostgres({ settings: { max_connections: "500" } });
  const { folder, binaries } = await initialised!;
  return [server, { port: server.port, binaries, cluster: folder }];
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  initialised ??= initialiseCluster();
  const cluster = await initialised;
  const folder =
    options.fsync || options.parent ? makeServerFolder(options.parent) : makeDataFolder();
  if (options.hasOwnIdentifier) await initialise(folder, cluster.binaries);
  else await runAsServer(folder, ["cp", "-R", join(cluster.folder, "data"), join(folder, "data")]);
  return runPostgres(folder, cluster.binaries, options);
}

interface Cluster {
  readonly folder: string;
  readonly binaries: string;
}

let initialised: Promise<Cluster> | undefined =
  ofRun && Promise.resolve({ folder: ofRun.cluster, binaries: ofRun.binaries });

/** A cluster that is never started. Copying it takes a tenth of the processor time of initdb. */
async function initialiseCluster(): Promise<Cluster> {
  const folder = makeServerFolder();
  startWatchdog(folder);
  const binaries = await findBinaries(folder);
  await initialise(folder, binaries);
  return { folder, binaries };
}

async function initialise(folder: string, binaries: string): Promise<void> {
  await runAsServer(folder, [
    join(binaries, "initdb"),
    ...["--pgdata", join(folder, "data"), "--username", "postgres", "--auth", "trust"],
    ...["--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"],
  ]);
}

/** Runs a program to its end under the account of the server. */
async function runAsServer(folder: string, command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
    ...serverIdentity,
  });
  if ((await child.exited) !== 0) {
    throw new Error(`${command[0]} failed: ${await new Response(child.stderr).text()}`);
  }
}

/** Runs a server on a folder whose `data` is an initialised or copied cluster. */
export async function runPostgres(
  folder: string,
  binaries: string,
  options: PostgresOptions,
): Promise<PostgresServer> {
  const watchdog = startWatchdog(folder);
  const port = await findFreePort();
  let process = await startProcess(binaries, folder, port, options);

  async function end(signal: NodeJS.Signals): Promise<void> {
    const children = listChildren(process.pid);
    process.kill(signal);
    if (signal === "SIGKILL") signalAll(children, signal);
    await process.exited;
  }
  const server: PostgresServer = {
    ...serverAt(port),
    folder,
    binaries,
    options,
    get pid() {
      return process.pid;
    },
    get isRunning() {
      return process.exitCode === null && process.signalCode === null;
    },
    get cpuMs() {
      return Number(process.resourceUsage()?.cpuTime.total ?? 0) / 1_000;
    },
    stop: () => end("SIGINT"),
    kill: () => end("SIGKILL"),
    async start() {
      process = await startProcess(binaries, folder, port, options);
    },
    async restart() {
      await server.stop();
      await server.start();
    },
    pause: () => signalAll([process.pid, ...listChildren(process.pid)], "SIGSTOP"),
    resume: () => signalAll([...listChildren(process.pid), process.pid], "SIGCONT"),
    async destroy() {
      server.resume();
      await end("SIGQUIT");
      watchdog.stdin.end();
      await watchdog.exited;
    },
  };
  return server;
}

/**
 * Starts `postgres` and waits until it logs that it accepts connections. After a SIGKILL the dead
 * server's last children may still use its shared memory, so that failure is retried.
 */
async function startProcess(
  binaries: string,
  folder: string,
  port: number,
  options: PostgresOptions,
): Promise<Subprocess> {
  const fast = options.fsync ? {} : { fsync: "off", full_page_writes: "off" };
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    shared_buffers: "64MB",
    log_checkpoints: "off",
    // In files beside the data: a killed server leaves shared memory of the system behind for ever.
    dynamic_shared_memory_type: "mmap",
    ...fast,
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  for (let attempt = 1; ; attempt++) {
    const process = Bun.spawn(
      [join(binaries, "postgres"), "-D", join(folder, "data"), ...flags],
      // Detached, so that Ctrl-C at the terminal reaches only the test run.
      { cwd: folder, stdout: "ignore", stderr: "pipe", detached: true, ...serverIdentity },
    );
    const log = await readUntilReady(process.stderr);
    if (log === undefined) return process;
    await process.exited;
    const busy = log.includes("still in use") || log.includes("another postmaster");
    if (!busy || attempt === 50) throw new Error(`postgres did not start:\n${log}`);
    await Bun.sleep(100);
  }
}

/** Resolves to undefined once the server is ready, or to its log if it ended before. */
async function readUntilReady(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let log = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return log;
    log += decoder.decode(value, { stream: true });
    if (/ready to accept (read-only )?connections/.test(log)) break;
  }
  // Continues to read the log, or the server would block on a full pipe.
  void (async () => {
    while (!(await reader.read()).done);
  })();
  return undefined;
}

/**
 * Starts a shell that outlives this process. Its input closes when this process ends for any reason;
 * it then stops the server and deletes the data. The wait is bounded, because in a container whose
 * first process does not reap children the dead server stays visible. A server that was killed leaves
 * its file postmaster.pid, whose line 7 ends with the id of the shared memory that it left too.
 */
function startWatchdog(folder: string) {
  const script = `trap '' INT TERM HUP
    read -r _
    pid=$(head -n 1 "$1/data/postmaster.pid") && kill -CONT "$pid" && kill -QUIT "$pid" &&
      for _ in $(seq 100); do kill -0 "$pid" || break; sleep 0.05; done
    memory=$(sed -n '7s/.* //p' "$1/data/postmaster.pid") && [ "$memory" ] && ipcrm -m "$memory"
    rm -rf "$1"`;
  const watchdog = Bun.spawn(["sh", "-c", script, "watchdog", folder], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  watchdog.unref();
  return watchdog;
}

/** The child processes of the postmaster if the system has /proc, otherwise none. */
function listChildren(parent: number): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => parentOf(name) === parent)
      .map(Number);
  } catch {
    return [];
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}
