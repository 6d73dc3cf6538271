// The scenarios in which --beside compares two versions.
import { type Bench, formatEntries, readersFor } from "./bench.ts";
import { checkPets } from "./catalogue.ts";
import { captureList, type Service } from "./contestants.ts";
import type { Postgres } from "./postgres.ts";
import { type ScenarioName, scenarioNames } from "./selection.ts";
import type { Work } from "./work.ts";

export interface Scenario {
  title: string;
  kind: "get" | "patch";
  /** The largest acceptable loss, and the largest acceptable noise. */
  bound: number;
  entries: number;
  /** Called before every run. */
  work(service: Service): Work | Promise<Work>;
  /** Creates a PostgreSQL database; SQLite unless given. */
  createDatabase?: () => Promise<string>;
}

const sqliteBound = 0.03;
/** Larger, because PostgreSQL's processes share the cores with the service and add noise. */
const postgresBound = 0.05;

export function needsPostgres(names: ReadonlySet<ScenarioName>): boolean {
  return names.has("get-postgres") || names.has("patch-postgres");
}

/** Returns the selected scenarios. The server is needed only if `needsPostgres` is true. */
export function selectedScenarios(bench: Bench, server: Postgres | undefined): Scenario[] {
  const { quick, scenarios } = bench.options;
  const gets = (...sizes: number[]) => sizes.map((entries) => getScenario(bench, entries));
  const postgresPatches = [patchScenario(64, 1000), patchScenario(256, 1000)];
  const byName: Record<ScenarioName, () => Scenario[]> = {
    get: () => gets(20, 1000),
    "get-long": () => (quick ? gets(10_000) : gets(10_000, 100_000)),
    "first-get": () => [firstGetScenario(bench, quick ? 10_000 : 100_000)],
    patch: () => [20, 1000, 10_000].map((entries) => patchScenario(64, entries)),
    "patch-256": () => [patchScenario(256, 1000)],
    "get-postgres": () => [onPostgres(getScenario(bench, 1000), server!)],
    "patch-postgres": () => postgresPatches.map((scenario) => onPostgres(scenario, server!)),
  };
  return scenarioNames.filter((name) => scenarios.has(name)).flatMap((name) => byName[name]());
}

function getScenario({ directory, options }: Bench, entries: number): Scenario {
  const connections = readersFor(options, entries);
  const expectedFiles = new Map<string, string>();
  return {
    title: `GET, ${formatEntries(entries)}`,
    kind: "get",
    bound: sqliteBound,
    entries,
    async work(service) {
      const expectedFile =
        expectedFiles.get(service.name) ?? (await captureList(service, directory, entries));
      expectedFiles.set(service.name, expectedFile);
      return { kind: "get", connections, expectedFile };
    },
  };
}

/** The CPU time of a PATCH is included: one version's cost can move between PATCH and GET. */
function firstGetScenario({ directory }: Bench, entries: number): Scenario {
  return {
    title: `PATCH and GET in turn, ${formatEntries(entries)}`,
    kind: "get",
    bound: sqliteBound,
    entries,
    async work(service) {
      // Earlier runs have changed the list.
      const expectedFile = await captureList(service, directory, entries, checkPets);
      return { kind: "first-get", entries, expectedFile };
    },
  };
}

function patchScenario(connections: number, entries: number): Scenario {
  return {
    title: `PATCH, ${formatEntries(entries)}, ${connections} connections`,
    kind: "patch",
    bound: sqliteBound,
    entries,
    work: () => ({ kind: "patch", connections, entries }),
  };
}

let databaseCount = 0;

function onPostgres(scenario: Scenario, server: Postgres): Scenario {
  return {
    ...scenario,
    title: `${scenario.title}, PostgreSQL`,
    bound: postgresBound,
    createDatabase: () => server.create(`beside_${databaseCount++}`),
  };
}
