// Durable PATCH on PostgreSQL, compared with the peer and pgbench on the same server.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, compare, divide, type Task } from "../bench.ts";
import { best } from "../best.ts";
import { type Service, startPeer, startService, startServiceOn } from "../contestants.ts";
import { Generator, type Measured } from "../generator.ts";
import { type Postgres, startPostgres } from "../postgres.ts";
import { CommandError, run } from "../processes.ts";
import type { Contestant } from "../start-server.ts";

const entries = 1000;

export async function postgres(bench: Bench): Promise<void> {
  const { results, directory, options } = bench;
  const server = await startPostgres(directory);
  try {
    const started = await startContestants(bench, server);
    if (started === undefined) return;
    const { service, peers } = started;
    const contestants = [service, ...peers];
    const work = { kind: "patch", connections: options.writers, entries } as const;
    const tasks = contestants.map((contestant): Task => ({ contestant, work }));
    // Measured before and after pgbench, whose runs cannot alternate with the others.
    const before = await compare(bench, tasks);
    const updates = await pgbench(bench, server);
    const after = await compare(bench, tasks);
    const measured = before.map((one, index) =>
      after[index]!.throughput > one.throughput ? after[index]! : one,
    );
    for (const [index, { name }] of contestants.entries()) {
      results.addRow("PATCH, PostgreSQL", name, "patch", measured[index]!);
    }
    const [own, peer] = measured as [Measured, Measured | undefined];
    results.addFigure("postgresPgbench", divide(own.throughput, updates));
    if (peer) results.addFigure("postgresPeer", divide(own.throughput, peer.throughput));
    await Promise.all(peers.map((peer) => peer.stop()));
    await twoInstances(bench, service);
    await service.stop();
  } finally {
    await server.stop();
  }
}

/** Adds a second instance on the same database and divides the writers between the two. */
async function twoInstances({ results, directory, generator, options }: Bench, first: Service) {
  const second = await startServiceOn({ directory, entries }, first.database, first.target.key);
  const other = new Generator();
  const connections = Math.ceil(options.writers / 2);
  const work = { kind: "patch", connections, entries } as const;
  const rounds: Measured[] = [];
  for (let round = 0; round <= options.repeats; round++) {
    const [one, two] = await Promise.all([
      generator.measure(first, work, options.runMs),
      other.measure(second, work, options.runMs),
    ]);
    // The first round is the warm-up.
    if (round > 0) rounds.push(combined(one, two));
  }
  results.addRow("PATCH, PostgreSQL", "two instances", "patch", best(rounds));
  await Promise.all([other.stop(), second.stop()]);
}

/** Adds the rates, averages the CPU time per response, and takes the latencies of the slower one. */
function combined(one: Measured, two: Measured): Measured {
  const slower = one.patch.p99Ms > two.patch.p99Ms ? one : two;
  const throughput = one.throughput + two.throughput;
  const known = one.cpuMicroseconds !== undefined && two.cpuMicroseconds !== undefined;
  return {
    ...slower,
    throughput,
    patch: { ...slower.patch, requests: one.patch.requests + two.patch.requests },
    cpuMicroseconds: known
      ? (one.cpuMicroseconds! * one.throughput + two.cpuMicroseconds! * two.throughput) / throughput
      : undefined,
  };
}

interface Started {
  readonly service: Service;
  readonly peers: readonly Contestant[];
}

async function startContestants(bench: Bench, server: Postgres): Promise<Started | undefined> {
  const { directory } = bench;
  let service: Service;
  try {
    const database = await server.create("service");
    service = await startService({ directory, entries, database });
  } catch (error) {
    // Exit code 2 means that this version does not accept PostgreSQL addresses.
    if (!(error instanceof CommandError) || error.code !== 2) throw error;
    bench.results.addNote(`PostgreSQL was skipped: ${error.output}`);
    return undefined;
  }
  if (bench.peerProblem !== undefined) return { service, peers: [] };
  const database = await server.create("peer");
  return { service, peers: [await startPeer({ directory, entries, database })] };
}

/** Returns the single-row updates per second that PostgreSQL's benchmark reaches. */
async function pgbench(bench: Bench, server: Postgres): Promise<number | undefined> {
  const { results, directory, options } = bench;
  if (Bun.which("pgbench") === null) {
    results.addNote("pgbench is not installed, so there is no comparison with it.");
    return undefined;
  }
  const address = await server.create("pgbench");
  const sql = new Bun.SQL(address);
  await sql.unsafe(
    `CREATE TABLE entries (id bigint PRIMARY KEY, quantity bigint NOT NULL);
     INSERT INTO entries SELECT id, 1000 FROM generate_series(1, ${entries}) AS id`,
  );
  await sql.close();
  const script = join(directory, "pgbench.sql");
  const update = "UPDATE entries SET quantity = :quantity WHERE id = :id;";
  writeFileSync(
    script,
    `\\set id random(1, ${entries})\n\\set quantity random(1000, 9999)\n${update}\n`,
  );
  const seconds = Math.max(1, Math.round(options.runMs / 1000));
  let best = 0;
  for (let round = 0; round < options.repeats; round++) {
    const output = await run(
      ["pgbench", "-n", "-M", "prepared", "-c", "64", "-j", "2", "-T", String(seconds)].concat([
        "-f",
        script,
        address,
      ]),
    );
    const rate = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
    if (/number of failed transactions: [1-9]/.test(output)) throw new Error(output);
    best = Math.max(best, rate);
  }
  results.rows.push({
    scenario: "PATCH, PostgreSQL",
    contestant: "pgbench -c 64",
    throughput: best,
    p50Ms: undefined,
    p99Ms: undefined,
    cpuMicroseconds: undefined,
    generatorBusy: undefined,
  });
  return best;
}
