import type { Config } from "../../config.ts";
import { findNewestBackup } from "../../creation.ts";
import type { StoreInspection } from "../../domain/operations/inspection.ts";
import { formatInstant } from "../../domain/values/times.ts";
import { filesOf } from "../../store/sqlite/engine/files.ts";
import { isServed } from "../../store/sqlite/engine/serving-lock.ts";
import { sqlitePath } from "../../store-file.ts";
import { assertStoreFile } from "../../stores.ts";
import { contentChecks } from "./content.ts";
import { attempt, type Bounds, type Check, type Finding, ok, problem, warning } from "./finding.ts";

const restore = "See docs/troubleshooting.md, or restore a backup.";

/** Checks an open store: schema, environment, engine, writes, clock and content. */
export async function checkStore(
  inspection: StoreInspection,
  config: Config,
  bounds: Bounds,
): Promise<readonly Finding[]> {
  const schema = await attempt("schema", restore, () => checkSchema(inspection, config));
  const findings = [ok("store", inspection.label), ...schema];
  // Older and newer schemas lack tables or have other ones.
  const isCurrent = schema[0]?.result === "ok";
  const hasStore = schema[0]?.result !== "problem";
  const environment: Check = ["environment", restore, () => checkEnvironment(inspection, config)];
  const checks: readonly Check[] = [
    ...(hasStore ? [environment] : []),
    ["engine", "Check the database server.", () => inspection.listFacts()],
    ...(isCurrent ? currentChecks(inspection, config, bounds) : []),
  ];
  // One after another: they share a connection.
  for (const [name, advice, work] of checks) {
    const found = await attempt(name, advice, work);
    if (!inspection.isOpen) return [...findings, lost];
    findings.push(...found);
  }
  return findings;
}

const lost = problem(
  "store",
  "the database stopped responding",
  "Check the load, the disk and the log of the database server, and the network.",
);

/** The checks of a store with the current schema. */
function currentChecks(
  inspection: StoreInspection,
  config: Config,
  bounds: Bounds,
): readonly Check[] {
  const checkWrites = async () => {
    await inspection.checkWritable();
    return ok("writable", "the store accepts writes");
  };
  return [
    ["writable", writableAdvice, checkWrites],
    ["clock", restore, () => checkClock(inspection, bounds)],
    ...contentChecks(inspection, config, bounds),
  ];
}

const writableAdvice =
  "If it is busy, wait for the import that runs. Otherwise check disk space, rights and the server.";

async function checkSchema(inspection: StoreInspection, config: Config): Promise<Finding> {
  const { version, current, isTooNew } = await inspection.readSchema();
  if (isTooNew) {
    return problem(
      "schema",
      `version ${version}, and this petstore knows ${current}`,
      "Use the newer version of petstore that migrated the store.",
    );
  }
  if (version === 0) {
    const backup = await findNewestBackup(config);
    const next = backup
      ? `If the store is lost, run petstore restore ${backup}.`
      : "If this is a new store, run petstore serve to create it.";
    return problem("schema", "the database is empty", `Check --database and --env. ${next}`);
  }
  if (version === current) return ok("schema", `version ${version}, no pending migration`);
  return warning(
    "schema",
    `version ${version} of ${current}: the next start or command migrates the store`,
    "Run petstore upgrade --check and make a backup first. Content was not checked.",
  );
}

async function checkEnvironment(
  inspection: StoreInspection,
  { environment }: Config,
): Promise<Finding> {
  const found = await inspection.findEnvironment();
  if (found === environment) return ok("environment", environment);
  return problem(
    "environment",
    found ? `the store belongs to ${found}, not to ${environment}` : "the store has no head row",
    found ? `Set --env ${found}, or --database to the other store.` : restore,
  );
}

async function checkClock(inspection: StoreInspection, bounds: Bounds): Promise<Finding> {
  const { serverNow, lastRowAt, lastWindowAt } = await inspection.readTimes();
  const now = Date.now();
  const advice = "Synchronise the clocks, for example with chrony or systemd-timesyncd.";
  if (serverNow !== undefined && Math.abs(serverNow - now) > bounds.clockMsMax) {
    const seconds = Math.round(Math.abs(serverNow - now) / 1_000);
    const direction = serverNow > now ? "ahead of" : "behind";
    return warning("clock", `the server's clock is ${seconds} s ${direction} this one`, advice);
  }
  const latest = Math.max(lastRowAt, lastWindowAt);
  if (latest > (serverNow ?? now) + bounds.clockMsMax) {
    const what = lastRowAt === latest ? "the last ledger row" : "the last count of requests";
    return warning("clock", `${what} is in the future: ${formatInstant(latest)}`, advice);
  }
  return ok("clock", serverNow === undefined ? "no time in the store is in the future" : "in step");
}

/** Opens an existing store to inspect it, without migrating it. Ends within `deadlineMs`. */
export async function inspectStore(config: Config, deadlineMs: number): Promise<StoreInspection> {
  const path = sqlitePath(config);
  if (path === undefined) {
    const { openInspection } = await import("../../store/postgres/inspection.ts");
    return openInspection(config.databaseUrl, deadlineMs);
  }
  await assertStoreFile(config);
  const { openInspection } = await import("../../store/sqlite/inspection.ts");
  return openInspection(path);
}

/** Whether a process serves the SQLite file. */
export function isFileServed(path: string): boolean {
  return isServed(filesOf(path));
}
