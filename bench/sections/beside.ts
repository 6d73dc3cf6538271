// This checkout beside another one, usually an older commit: what a change costs per request.
import { type Bench, best, readersFor, sized } from "../bench.ts";
import { checkPets } from "../catalogue.ts";
import { captureList, type Service, startService } from "../contestants.ts";
import type { Measured } from "../generator.ts";
import type { Work } from "../load.ts";
import { startPostgres } from "../postgres.ts";
import { costOfFirstGet } from "./first-get.ts";

/** The other checkout runs twice: the two differ by noise alone, which says what a ratio is worth. */
const names = ["old", "new", "old again"] as const;

/** What each contestant does in one round; one result for each kind of work. */
type Round = (service: Service) => Promise<Measured[]>;

const patchEntries = 1000;

export async function beside(bench: Bench): Promise<void> {
  const { quick } = bench.options;
  for (const entries of quick ? [20, 1000] : [20, 1000, 10_000, 100_000]) {
    await getAt(bench, entries);
  }
  await firstGetAt(bench, quick ? 10_000 : 100_000);
  for (const connections of [64, 256]) {
    const scenario = `PATCH, SQLite, ${connections} connections`;
    await patchOn(bench, scenario, connections, () => undefined);
  }
  const server = await startPostgres(bench.directory);
  try {
    for (const connections of [64, 256]) {
      const scenario = `PATCH, PostgreSQL, ${connections} connections`;
      let count = 0;
      const create = () => server.create(`beside_${connections}_${count++}`);
      await patchOn(bench, scenario, connections, create);
    }
  } finally {
    await server.stop();
  }
}

async function getAt(bench: Bench, entries: number): Promise<void> {
  const { directory, generator, options } = bench;
  const services = await startAll(bench, entries, () => undefined);
  const works = new Map<Service, Work>();
  for (const service of services) {
    const expectedFile = await captureList(service, directory, entries);
    const connections = readersFor(options, entries);
    works.set(service, { kind: "get", connections, expectedFile });
  }
  const round: Round = async (service) => [
    await generator.measure(service, works.get(service)!, options.runMs),
  ];
  const measured = await race(bench, services, round);
  record(bench, `GET, ${sized(entries)}`, "get", measured.map(best));
}

async function firstGetAt(bench: Bench, entries: number): Promise<void> {
  const { directory, generator, options } = bench;
  const services = await startAll(bench, entries, () => undefined);
  const round: Round = async (service) => {
    // The list as it is by now: the rounds before have changed it.
    const expectedFile = await captureList(service, directory, entries, checkPets);
    const measure = (work: Work) => generator.measure(service, work, options.runMs);
    return [
      await measure({ kind: "first-get", entries, expectedFile }),
      await measure({ kind: "patch", connections: 1, entries }),
    ];
  };
  const measured = (await race(bench, services, round, 2)).map(best);
  const pairs = names.map((_, index) => measured[2 * index]!);
  const costs = pairs.map((pair, index) => ({
    ...pair,
    cpuMicroseconds: costOfFirstGet(pair, measured[2 * index + 1]!),
  }));
  record(bench, `first GET after a PATCH, ${sized(entries)}`, "get", costs);
}

async function patchOn(
  bench: Bench,
  scenario: string,
  connections: number,
  database: () => Promise<string> | undefined,
): Promise<void> {
  const { generator, options } = bench;
  const services = await startAll(bench, patchEntries, database);
  const work: Work = { kind: "patch", connections, entries: patchEntries };
  const round: Round = async (service) => [await generator.measure(service, work, options.runMs)];
  const measured = await race(bench, services, round);
  record(bench, scenario, "patch", measured.map(best));
}

async function startAll(
  { directory, options }: Bench,
  entries: number,
  database: () => Promise<string> | undefined,
): Promise<Service[]> {
  const services: Service[] = [];
  for (const name of names) {
    const address = await database();
    const checkout = name === "new" ? undefined : options.beside;
    const setting = { directory, entries, name, ...(address ? { database: address } : {}) };
    services.push(await startService(checkout ? { ...setting, checkout } : setting));
  }
  return services;
}

/**
 * Lets the services take turns and stops them. Every round begins with another one, so that no one
 * always comes first; the round before the first warms up. Gives, for each service and each of the
 * `kinds` of work in a round, all that was measured.
 */
async function race(
  { options }: Bench,
  services: Service[],
  round: Round,
  kinds = 1,
): Promise<Measured[][]> {
  const measured: Measured[][] = Array.from({ length: kinds * services.length }, () => []);
  for (let at = 0; at <= options.repeats; at++) {
    for (let turn = 0; turn < services.length; turn++) {
      const index = (at + turn) % services.length;
      const results = await round(services[index]!);
      if (at === 0) continue;
      for (const [kind, one] of results.entries()) measured[kinds * index + kind]!.push(one);
    }
  }
  await Promise.all(services.map((service) => service.stop()));
  return measured;
}

function record(bench: Bench, scenario: string, kind: "get" | "patch", all: Measured[]): void {
  for (const [index, name] of names.entries()) bench.book.row(scenario, name, kind, all[index]!);
  const [old, fresh, again] = all as [Measured, Measured, Measured];
  bench.book.beside(scenario, kind, { old, fresh, again });
}
