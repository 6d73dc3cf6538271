import type { Config } from "../../config.ts";
import type { StoreInspection } from "../../domain/inspection.ts";
import { formatInstant } from "../../domain/values/instants.ts";
import type { Bounds } from "./bounds.ts";
import { checkContent } from "./content.ts";
import { attempt, type Finding, ok, problem, warning } from "./finding.ts";

const restore = "See docs/troubleshooting.md, or restore a backup.";

/** Checks an open store: schema, environment, writes, clock, engine and content. */
export async function checkStore(
  inspection: StoreInspection,
  config: Config,
  bounds: Bounds,
): Promise<readonly Finding[]> {
  const schema = await attempt("schema", restore, () => checkSchema(inspection));
  const findings = [ok("store", inspection.label), ...schema];
  const hasStore = schema[0]?.result !== "problem";
  if (hasStore) {
    const check = () => checkEnvironment(inspection, config);
    findings.push(...(await attempt("environment", restore, check)));
  }
  findings.push(
    ...(await attempt("engine", "Check the database server.", () => inspection.listFacts())),
  );
  // Older and newer schemas lack tables or have other ones.
  if (schema[0]?.result !== "ok") return findings;
  findings.push(
    ...(await attempt("writable", writableAdvice, async () => {
      await inspection.checkWritable();
      return ok("writable", "the store accepts writes");
    })),
    ...(await attempt("clock", restore, () => checkClock(inspection, bounds))),
    ...(await checkContent(inspection, config, bounds)),
  );
  return findings;
}

const writableAdvice =
  "If it is busy, wait for the import that runs. Otherwise check disk space, rights and the server.";

async function checkSchema(inspection: StoreInspection): Promise<Finding> {
  const { version, current, isTooNew } = await inspection.readSchema();
  if (isTooNew) {
    return problem(
      "schema",
      `version ${version}, and this petstore knows ${current}`,
      "Use the newer version of petstore that migrated the store.",
    );
  }
  if (version === 0) {
    return problem(
      "schema",
      "the database is empty",
      "Check --database and --env. If this is a new store, run petstore serve to create it.",
    );
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
