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

/** Runs pgbench with this number of clients, for whole seconds. */
export type Pgbench = (clients: number, durationMs: number) => Promise<Rate>;

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
  /** By number of clients: the last time that it took to open all connections. */
  const connectingMs = new Map<number, number>();
  return async (clients, durationMs) => {
    // The time of a run includes the connecting, but the rate does not.
    const seconds = Math.round((durationMs + (connectingMs.get(clients) ?? 0)) / 1000);
    const flags = ["-n", "-M", "prepared", "-c", String(clients), "-j", "2"];
    flags.push("-T", String(Math.max(1, seconds)), "-f", script);
    const output = await run(["pgbench", ...flags, address]);
    if (/number of failed transactions: [1-9]/.test(output)) throw new Error(output);
    connectingMs.set(clients, Number(/initial connection time = ([\d.]+) ms/.exec(output)?.[1]));
    const throughput = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
    return { throughput, cpuMicroseconds: undefined };
  };
}
