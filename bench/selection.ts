// Selects the sections of a run, and the scenarios of --beside.

/** In the order in which they run. `beside` runs only with --beside. */
export const sections = [
  "get",
  "patch",
  "slow-flush",
  "reads-under-writes",
  "first-get",
  "growth",
  "turns",
  "postgres",
  "postgres-growth",
  "postgres-vacuum",
  "batch",
  "feed",
  "webhooks",
  "monitoring",
  "open-transaction",
  "ledger",
  "history",
  "idempotency",
  "snapshots",
  "budget",
  "soak",
  "beside",
] as const;
export type Section = (typeof sections)[number];

/** These fill a store with millions of rows, take minutes, or compare nothing. */
const longSections = [
  "ledger",
  "snapshots",
  "history",
  "idempotency",
  "postgres-growth",
  "postgres-vacuum",
  "budget",
] as const;
const postgresSections = ["postgres", "postgres-growth", "postgres-vacuum"] as const;

/** The names that --scenario accepts, in the order in which the scenarios run. */
export const scenarioNames = [
  "get",
  "get-long",
  "first-get",
  "patch",
  "patch-256",
  "get-postgres",
  "patch-postgres",
] as const;
export type ScenarioName = (typeof scenarioNames)[number];

export function selectSections(flags: {
  only: string | undefined;
  engine: string | undefined;
  beside: string | undefined;
  long: boolean;
  soak: boolean;
}): Set<Section> {
  const { only, engine, beside, long, soak } = flags;
  if (beside !== undefined) return new Set(["beside"]);
  if (only !== undefined) return new Set(only.split(",").map(sectionNamed));
  if (soak) return new Set(["soak"]);
  if (engine !== undefined && engine !== "sqlite" && engine !== "postgres") {
    throw new Error(`--engine must be sqlite or postgres, not ${engine}.`);
  }
  const selected = new Set<Section>(engine === "postgres" ? postgresSections : sections);
  for (const section of ["soak", "open-transaction", "beside"] as const) selected.delete(section);
  if (!long) for (const section of longSections) selected.delete(section);
  if (engine === "sqlite") for (const section of postgresSections) selected.delete(section);
  return selected;
}

function sectionNamed(name: string): Section {
  if (name === "beside") throw new Error("Use --beside VERSION to run the section beside.");
  const section = sections.find((one) => one === name);
  if (section === undefined) {
    throw new Error(`Unknown section ${name}. Use ${sections.join(", ")}.`);
  }
  return section;
}

/** Returns the scenarios named in --scenario; all of them unless given. */
export function selectScenarios(
  names: string | undefined,
  beside: string | undefined,
): Set<ScenarioName> {
  if (names === undefined) return new Set(scenarioNames);
  if (beside === undefined) throw new Error("--scenario needs --beside VERSION.");
  return new Set(names.split(",").map(scenarioNamed));
}

function scenarioNamed(name: string): ScenarioName {
  const scenario = scenarioNames.find((one) => one === name);
  if (scenario === undefined) {
    throw new Error(`Unknown scenario ${name}. Use ${scenarioNames.join(", ")}.`);
  }
  return scenario;
}
