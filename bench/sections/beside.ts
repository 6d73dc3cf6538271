// Compares this checkout with another one, usually an older commit.
import type { Bench } from "../bench.ts";
import { needsPostgres, type Scenario, selectedScenarios } from "../beside-scenarios.ts";
import { best } from "../best.ts";
import { compareVersions, type Round, type Version, versions } from "../comparison.ts";
import { type Service, startService, startServiceOn } from "../contestants.ts";
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
/** The length of a warm-up, in runs. */
const warmUpRuns = 3;

export async function beside(bench: Bench): Promise<void> {
  const { directory, options } = bench;
  const server = needsPostgres(options.scenarios) ? await startPostgres(directory) : undefined;
  try {
    for (const scenario of selectedScenarios(bench, server)) await measureScenario(bench, scenario);
  } finally {
    await server?.stop();
  }
}

async function measureScenario(bench: Bench, scenario: Scenario): Promise<void> {
  const { options, results } = bench;
  console.error(`  ${scenario.title}`);
  const rounds: Round[] = [];
  let services = await startAll(bench, scenario);
  for (let round = 0; round < options.repeats; round++) {
    if (round % roundsPerStart === 0) {
      if (round > 0) services = await restartAll(bench, scenario, services);
      await measureRound(bench, scenario, services, round, warmUpRuns * options.runMs);
    }
    rounds.push(await measureRound(bench, scenario, services, round, options.runMs));
  }
  await Promise.all(versions.map((version) => services[version].stop()));
  for (const version of versions) {
    const run = best(rounds.map((round) => round[version]));
    results.addRow(scenario.title, version, scenario.kind, run);
  }
  results.comparisons.push(...compareVersions(scenario, rounds));
}

async function measureRound(
  { generator }: Bench,
  scenario: Scenario,
  services: Services,
  round: number,
  durationMs: number,
): Promise<Round> {
  const measured: Partial<Round> = {};
  for (const version of orders[round % orders.length]!) {
    const service = services[version];
    const work = await scenario.work(service);
    measured[version] = await generator.measure(service, work, durationMs);
  }
  return measured as Round;
}

async function startAll(bench: Bench, scenario: Scenario): Promise<Services> {
  const services: Partial<Services> = {};
  for (const version of versions) {
    const options = startOptions(bench, scenario, version);
    const database = await scenario.createDatabase?.();
    services[version] = await startService(database ? { ...options, database } : options);
  }
  return services as Services;
}

/** Starts every service again on its database. */
async function restartAll(bench: Bench, scenario: Scenario, running: Services): Promise<Services> {
  const services: Partial<Services> = {};
  for (const version of versions) {
    const { database, target } = running[version];
    await running[version].stop();
    const options = startOptions(bench, scenario, version);
    services[version] = await startServiceOn(options, database, target.key);
  }
  return services as Services;
}

function startOptions({ directory, options }: Bench, { entries }: Scenario, version: Version) {
  const common = { directory, entries, name: version };
  if (version === "new" || options.beside === undefined) return common;
  return { ...common, checkout: options.beside };
}
