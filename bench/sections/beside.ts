// Compares this checkout with a release or another checkout.
import { join } from "node:path";
import { checkoutOf } from "../../scripts/release-checkout.ts";
import { looksLikeVersion } from "../../scripts/releases.ts";
import type { Bench } from "../bench.ts";
import { needsPostgres, type Scenario, selectedScenarios } from "../beside-scenarios.ts";
import { best } from "../best.ts";
import {
  compareVersions,
  noiseOf,
  type Round,
  type Start,
  type Version,
  versions,
} from "../comparison.ts";
import {
  type ContestantOptions,
  type Service,
  startService,
  startServiceOn,
} from "../contestants.ts";
import { startPostgres } from "../postgres.ts";

type Services = Record<Version, Service>;

/** Every version is first, second and last equally often. */
const orders: Version[][] = [
  ["old", "new", "old again"],
  ["old again", "new", "old"],
  ["new", "old again", "old"],
  ["old", "old again", "new"],
  ["old again", "old", "new"],
  ["new", "old", "old again"],
];

/**
 * Rounds between two restarts of the services. Two processes of the same version can differ for as
 * long as they run, for example in the code that the compiler optimized. Restarts average this out.
 */
const roundsPerStart = 2 * orders.length;
/**
 * The length of a warm-up, in runs: 12 s. After 6 s the compiler still took 0.7 µs per update here and 0.2
 * in 0.1.0, which has less code. A service runs for days, so that is not part of its cost.
 */
const warmUpRuns = 40;

interface Task {
  bench: Bench;
  scenario: Scenario;
  /** The checkout of the old version. */
  checkout: string;
}

export async function beside(bench: Bench): Promise<void> {
  const { directory, options } = bench;
  const old = options.beside!;
  const checkout = looksLikeVersion(old) ? await checkoutOf(old) : old;
  const manifest = await Bun.file(join(checkout, "package.json")).json();
  bench.results.oldVersion = String(manifest.version);
  if (options.quick) bench.results.addNote("This was a quick run, too short for a judgement.");
  const server = needsPostgres(options.scenarios) ? await startPostgres(directory) : undefined;
  try {
    for (const scenario of selectedScenarios(bench, server)) {
      await measureScenario({ bench, scenario, checkout });
    }
  } finally {
    await server?.stop();
  }
}

async function measureScenario(task: Task): Promise<void> {
  const { bench, scenario } = task;
  console.error(`  ${scenario.title}`);
  const endsAt = performance.now() + bench.options.besideMs;
  const starts: Start[] = [];
  let services = await startAll(task);
  for (;;) {
    starts.push(await measureStart(task, services, starts.length));
    if (isEnough(task, starts, endsAt)) break;
    services = await restartAll(task, services);
  }
  await Promise.all(versions.map((version) => services[version].stop()));
  for (const version of versions) {
    const run = best(starts.flat().map((round) => round[version]));
    bench.results.addRow(scenario.title, version, scenario.kind, run);
  }
  bench.results.comparisons.push(...compareVersions(scenario, starts));
}

/** Whether the first measure, usually the CPU time, is precise enough, or the time is over. */
function isEnough({ bench, scenario }: Task, starts: Start[], endsAt: number): boolean {
  const { rounds } = bench.options;
  if (rounds !== undefined) return starts.flat().length >= rounds;
  if (performance.now() > endsAt) return true;
  return noiseOf(compareVersions(scenario, starts)[0]!) <= scenario.bound;
}

/** Every start begins with another order, so that none of them always has the same place in time. */
async function measureStart(task: Task, services: Services, startsBefore: number): Promise<Start> {
  const { rounds = Number.POSITIVE_INFINITY, runMs } = task.bench.options;
  const roundsMax = Math.min(roundsPerStart, rounds - startsBefore * roundsPerStart);
  const orderOf = (round: number) => orders[(startsBefore + round) % orders.length]!;
  const start: Start = [];
  await measureRound(task, services, orderOf(0), warmUpRuns * runMs);
  while (start.length < roundsMax) {
    start.push(await measureRound(task, services, orderOf(start.length), runMs));
  }
  return start;
}

async function measureRound(
  { bench, scenario }: Task,
  services: Services,
  order: Version[],
  durationMs: number,
): Promise<Round> {
  const measured: Partial<Round> = {};
  for (const version of order) {
    const service = services[version];
    const work = await scenario.work(service);
    measured[version] = await bench.generator.measure(service, work, durationMs);
  }
  return measured as Round;
}

async function startAll(task: Task): Promise<Services> {
  const services: Partial<Services> = {};
  for (const version of versions) {
    const options = startOptions(task, version);
    const database = await task.scenario.createDatabase?.();
    services[version] = await startService(database ? { ...options, database } : options);
  }
  return services as Services;
}

/** Starts every service again on its database. */
async function restartAll(task: Task, running: Services): Promise<Services> {
  const services: Partial<Services> = {};
  for (const version of versions) {
    const { database, target } = running[version];
    await running[version].stop();
    services[version] = await startServiceOn(startOptions(task, version), database, target.key);
  }
  return services as Services;
}

function startOptions({ bench, scenario, checkout }: Task, version: Version): ContestantOptions {
  const common = { directory: bench.directory, entries: scenario.entries, name: version };
  return version === "new" ? common : { ...common, checkout };
}
