// Durable PATCH on PostgreSQL: the service, the peer and pgbench on the same server.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, compare, divide, type Entrant } from "../bench.ts";
import { type Contestant, startPeer, startService } from "../contestants.ts";
import type { Measured } from "../generator.ts";
import { type Postgres, startPostgres } from "../postgres.ts";
import { CommandError, run } from "../processes.ts";

const entries = 1000;

export async function postgres(bench: Bench): Promise<void> {
  const { book, directory, options } = bench;
  const server = await startPostgres(directory);
  try {
    const contestants = await startContestants(bench, server);
    if (contestants === undefined) return;
    const work = { kind: "patch", connections: options.writers, entries } as const;
    const entrants = contestants.map((contestant): Entrant => ({ contestant, work }));
    // Twice around pgbench's turn, which cannot be interleaved with the others' more finely.
    const before = await compare(bench, entrants);
    const updates = await pgbench(bench, server);
    const after = await compare(bench, entrants);
    const measured = before.map((one, index) =>
      after[index]!.throughput > one.throughput ? after[index]! : one,
    );
    for (const [index, { name }] of contestants.entries()) {
      book.row("PATCH, PostgreSQL", name, "patch", measured[index]!);
    }
    const [ours, peer] = measured as [Measured, Measured | undefined];
    book.figure("postgresPgbench", divide(ours.throughput, updates));
    if (peer) book.figure("postgresPeer", divide(ours.throughput, peer.throughput));
    await Promise.all(contestants.map((contestant) => contestant.stop()));
  } finally {
    await server.stop();
  }
}

async function startContestants(bench: Bench, server: Postgres): Promise<Contestant[] | undefined> {
  const { directory } = bench;
  const contestants: Contestant[] = [];
  try {
    const database = await server.create("service");
    contestants.push(await startService({ directory, entries, database }));
  } catch (error) {
    // Code 2 is the service's word that it will not take such an address; all else is a failure.
    if (!(error instanceof CommandError) || error.code !== 2) throw error;
    bench.book.note(`PostgreSQL was skipped: ${error.output}`);
    return undefined;
  }
  if (bench.peerProblem === undefined) {
    const database = await server.create("peer");
    contestants.push(await startPeer({ directory, entries, database }));
  }
  return contestants;
}

/** Plain single-row updates per second, as the server's own benchmark makes them. */
async function pgbench(bench: Bench, server: Postgres): Promise<number | undefined> {
  const { book, directory, options } = bench;
  if (Bun.which("pgbench") === null) {
    book.note("pgbench is not installed: there is no comparison with it.");
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
  book.rows.push({
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
