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

/** Runs pgbench with this number of clients. */
export type Pgbench = (clients: number, durationMs: number) => Promise<Rate>;

/** Every run starts a server process for each client, which first fills its caches. */
const secondsMin = 2;

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
  return async (clients, durationMs) => {
    const seconds = Math.max(secondsMin, Math.round(durationMs / 1000));
    const flags = ["-n", "-M", "prepared", "-c", String(clients), "-j", "2"];
    flags.push("-T", String(seconds), "-f", script);
    const output = await run(["pgbench", ...flags, address]);
    if (/number of failed transactions: [1-9]/.test(output)) throw new Error(output);
    // It leaves out the time in which it opens its connections.
    const throughput = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
    if (!(throughput > 0)) throw new Error(`pgbench has no rate: ${output}`);
    return { throughput, cpuMicroseconds: undefined };
  };
}
