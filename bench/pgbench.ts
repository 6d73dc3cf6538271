// Runs pgbench, PostgreSQL's own benchmark, with updates of single rows.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Postgres } from "./postgres.ts";
import { run } from "./processes.ts";

/** The result of a program that reports only updates per second. */
export interface Rate {
  throughput: number;
  cpuMicroseconds: undefined;
}

/** Runs pgbench with this number of clients, for whole seconds after a warm-up. */
export type Pgbench = (clients: number, durationMs: number) => Promise<Rate>;

/** A guess for the first run. */
const connectingMsPerClient = 5;
/**
 * Every run starts a server process for each client, which first fills its caches. The others keep
 * their connections to the server, so this time does not count.
 */
const warmUpMs = 500;

/** Creates a database with this number of rows. Returns undefined if pgbench is not installed. */
export async function preparePgbench(
  server: Postgres,
  directory: string,
  rows: number,
): Promise<Pgbench | undefined> {
  if (Bun.which("pgbench") === null) return undefined;
  const address = await server.create("pgbench");
  const sql = new Bun.SQL(address, { max: 1 });
  await sql.unsafe(
    `CREATE TABLE entries (id bigint PRIMARY KEY, quantity bigint NOT NULL);
     INSERT INTO entries SELECT id, 1000 FROM generate_series(1, ${rows}) AS id`,
  );
  await sql.close();
  const script = join(directory, "pgbench.sql");
  const update = "UPDATE entries SET quantity = :quantity WHERE id = :id;";
  writeFileSync(
    script,
    `\\set id random(1, ${rows})\n\\set quantity random(1000, 9999)\n${update}\n`,
  );
  /** By number of clients: the longest time that it took to open all connections. */
  const connectingMs = new Map<number, number>();
  return async (clients, durationMs) => {
    const waitMs = connectingMs.get(clients) ?? clients * connectingMsPerClient;
    const warmUpSeconds = Math.ceil((waitMs + warmUpMs) / 1000);
    const seconds = Math.max(1, Math.round(durationMs / 1000));
    const flags = ["-n", "-M", "prepared", "-c", String(clients), "-j", "2", "-P", "1"];
    flags.push("-T", String(warmUpSeconds + seconds), "-f", script);
    const output = await run(["pgbench", ...flags, address], { includesErrors: true });
    if (/number of failed transactions: [1-9]/.test(output)) throw new Error(output);
    const connected = Number(/initial connection time = ([\d.]+) ms/.exec(output)?.[1]);
    const throughput = rateAfter(output, warmUpSeconds);
    if (!(connected > 0 && throughput > 0)) throw new Error(`pgbench has no rate: ${output}`);
    connectingMs.set(clients, Math.max(connected, connectingMs.get(clients) ?? 0));
    return { throughput, cpuMicroseconds: undefined };
  };
}

/** Reads the rate from the progress reports after this second. There is about one per second. */
export function rateAfter(output: string, warmUpSeconds: number): number {
  let [at, measuredSeconds, updates] = [0, 0, 0];
  for (const [, time, rate] of output.matchAll(/^progress: ([\d.]+) s, ([\d.]+) tps/gm)) {
    const [from, to] = [at, Number(time)];
    at = to;
    if (from < warmUpSeconds - 0.5) continue;
    measuredSeconds += to - from;
    updates += Number(rate) * (to - from);
  }
  return updates / measuredSeconds;
}
