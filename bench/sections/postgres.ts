// Durable PATCH on PostgreSQL by number of connections, compared with the peer and with pgbench on the
// same server, and two instances on one database compared with one.
import { type Bench, divide, takeTurns } from "../bench.ts";
import { best } from "../best.ts";
import { measureCommits } from "../commits.ts";
import { type Service, startPeer, startService, startServiceOn } from "../contestants.ts";
import type { FigureName } from "../figures.ts";
import { Generator, type Measured } from "../generator.ts";
import { measureTogether } from "../instances.ts";
import { type Pgbench, preparePgbench, type Rate } from "../pgbench.ts";
import { type Postgres, startPostgres } from "../postgres.ts";
import type { Contestant } from "../start-server.ts";

const entries = 1000;

interface Level {
  readonly connections: number;
  /** The figures for the service against the others. What has no figure is only shown. */
  readonly pgbenchFigure?: FigureName;
  readonly peerFigure?: FigureName;
}

const levels: readonly Level[] = [
  { connections: 16, pgbenchFigure: "postgresPgbench16" },
  { connections: 64, pgbenchFigure: "postgresPgbench64", peerFigure: "postgresPeer64" },
  { connections: 256 },
];
const instanceConnections = 64;

interface Contestants {
  readonly service: Service;
  readonly peer: Contestant | undefined;
  readonly pgbench: Pgbench | undefined;
}

export async function postgres(bench: Bench): Promise<void> {
  const server = await startPostgres(bench.directory);
  try {
    const contestants = await startContestants(bench, server);
    for (const level of levels) await measureLevel(bench, contestants, level);
    await contestants.peer?.stop();
    await compareInstances(bench, server, contestants.service);
    await contestants.service.stop();
    await addCommits(bench, server);
  } finally {
    await server.stop();
  }
}

async function startContestants(bench: Bench, server: Postgres): Promise<Contestants> {
  const { results, directory, peerProblem } = bench;
  const startOptions = async (database: string) => ({
    directory,
    entries,
    database: await server.create(database),
  });
  const service = await startService(await startOptions("service"));
  const peer = peerProblem === undefined ? await startPeer(await startOptions("peer")) : undefined;
  const pgbench = await preparePgbench(server, directory, entries);
  if (pgbench === undefined) {
    results.addNote("pgbench is not installed, so there is no comparison with it.");
  }
  return { service, peer, pgbench };
}

async function measureLevel(
  bench: Bench,
  { service, peer, pgbench }: Contestants,
  { connections, pgbenchFigure, peerFigure }: Level,
): Promise<void> {
  const { results, generator } = bench;
  const work = { kind: "patch", connections, entries } as const;
  const turns = new Map<string, (durationMs: number) => Promise<Measured | Rate>>();
  for (const contestant of peer ? [service, peer] : [service]) {
    turns.set(contestant.name, (durationMs) => generator.measure(contestant, work, durationMs));
  }
  const pgbenchName = `pgbench -c ${connections}`;
  if (pgbench) turns.set(pgbenchName, (durationMs) => pgbench(connections, durationMs));
  const rates = await measureInTurn(bench, scenarioOf(connections), turns);
  const against = (name: string) => divide(rates.get(service.name), rates.get(name));
  if (pgbenchFigure) results.addFigure(pgbenchFigure, against(pgbenchName));
  if (peer && peerFigure) results.addFigure(peerFigure, against(peer.name));
}

/**
 * Compares two instances on a database of their own with one instance on another. A second instance
 * on the same database would read the changes of the first meanwhile, which takes CPU time. Two generators send the
 * load in both cases, so that only the number of instances differs.
 */
async function compareInstances(bench: Bench, server: Postgres, single: Service): Promise<void> {
  const { results, directory } = bench;
  const database = await server.create("two_instances");
  const first = await startService({ directory, entries, database });
  const second = await startServiceOn({ directory, entries }, database, first.target.key);
  const other = new Generator(bench.patchLoad);
  const generators = [bench.generator, other] as const;
  const connections = instanceConnections / generators.length;
  const work = { kind: "patch", connections, entries } as const;
  const turn = (instances: readonly Service[]) => (durationMs: number) =>
    measureTogether(generators, instances, work, durationMs);
  const scenario = `${scenarioOf(instanceConnections)} from two generators`;
  const turns = new Map([
    ["one instance", turn([single])],
    ["two instances", turn([first, second])],
  ]);
  const rates = await measureInTurn(bench, scenario, turns);
  const ratio = divide(rates.get("two instances"), rates.get("one instance"));
  results.addFigure("postgresInstances64", ratio);
  await Promise.all([other.stop(), first.stop(), second.stop()]);
}

/** Adds a row for the best run of each. Returns the rates by name. */
async function measureInTurn(
  { results, options }: Bench,
  scenario: string,
  turns: ReadonlyMap<string, (durationMs: number) => Promise<Measured | Rate>>,
): Promise<Map<string, number>> {
  // The runs of pgbench take whole seconds. All the others are as long.
  const runMs = Math.max(1, Math.round(options.runMs / 1000)) * 1000;
  const rounds = await takeTurns([...turns.values()], options.repeats, runMs);
  const rates = new Map<string, number>();
  for (const [index, name] of [...turns.keys()].entries()) {
    const measured = best(rounds[index]!);
    if ("patch" in measured) results.addRow(scenario, name, "patch", measured);
    else results.addRate(scenario, name, measured.throughput);
    rates.set(name, measured.throughput);
  }
  return rates;
}

/** Metrics cost a little, so the service that has them takes no part in the comparisons. */
async function addCommits({ results, directory, generator, options }: Bench, server: Postgres) {
  const database = await server.create("metrics");
  const rows = await measureCommits(
    { directory, entries, database },
    levels.map(({ connections }) => ({ kind: "patch", connections, entries }) as const),
    { generator, runMs: options.runMs },
  );
  results.tables.push({ title: "Commits of PATCH, PostgreSQL", rows });
}

function scenarioOf(connections: number): string {
  return `PATCH, PostgreSQL, ${connections} connections`;
}
