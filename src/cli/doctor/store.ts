import { commandLine } from "../../command-lines.ts";
import type { Config } from "../../config.ts";
import type { StoreInspection } from "../../domain/operations/inspection.ts";
import { formatInstant } from "../../domain/values/times.ts";
import { findNewestBackup } from "../../opening/creation.ts";
import { adviceFor, schemaNumber } from "../../store/schema.ts";
import { contentChecks } from "./content.ts";
import {
  type Bounds,
  type Check,
  type Finding,
  type Found,
  ok,
  problem,
  runCheck,
  warning,
} from "./finding.ts";

const restore = "See docs/troubleshooting.md, or restore a backup.";

/** Checks an open store: schema, environment, engine, writes, clock and content. */
export async function checkStore(
  inspection: StoreInspection,
  config: Config,
  bounds: Bounds,
): Promise<readonly Finding[]> {
  const schema = await runCheck(["schema", restore, () => checkSchema(inspection, config)]);
  const findings: Finding[] = [{ name: "store", ...ok(inspection.label) }, ...schema];
  // Another schema may lack tables or have other ones.
  const fits = schema[0]?.result === "ok";
  const environment: Check = ["environment", restore, () => checkEnvironment(inspection, config)];
  const checks: readonly Check[] = [
    ...(fits ? [environment] : []),
    ["engine", "Check the database server.", () => inspection.listFacts()],
    ...(fits ? contentOf(inspection, config, bounds) : []),
  ];
  // One after another: they share a connection.
  for (const check of checks) {
    const found = await runCheck(check);
    if (!inspection.isOpen) return [...findings, lost];
    findings.push(...found);
  }
  return findings;
}

const lost: Finding = {
  name: "store",
  ...problem(
    "the database stopped responding",
    "Check the load, the disk and the log of the database server, and the network.",
  ),
};

/** The checks of a store that has the schema of this version. */
function contentOf(inspection: StoreInspection, config: Config, bounds: Bounds): readonly Check[] {
  const checkWrites = async () => {
    await inspection.checkWritable();
    return ok("the store accepts writes");
  };
  return [
    ["writable", writableAdvice, checkWrites],
    ["clock", restore, () => checkClock(inspection, bounds)],
    ...contentChecks(inspection, config),
  ];
}

const writableAdvice =
  "If it is busy, wait for the import that runs. Otherwise check disk space, rights and the server.";

async function checkSchema(inspection: StoreInspection, config: Config): Promise<Found> {
  const number = await inspection.readSchema();
  if (number === 0) {
    const backup = await findNewestBackup(config);
    const next = backup
      ? `If the store is lost, run ${commandLine(config, ["restore", backup])}.`
      : "If this is a new store, run petstore serve to create it.";
    return problem("the database is empty", `Check --database and --env. ${next}`);
  }
  if (number === schemaNumber) return ok(`schema ${number}`);
  const found = `schema ${number}, but this version needs ${schemaNumber}`;
  return problem(found, `Next: ${adviceFor(number)}.`);
}

async function checkEnvironment(
  inspection: StoreInspection,
  { environment }: Config,
): Promise<Found> {
  const found = await inspection.findEnvironment();
  if (found === environment) return ok(environment);
  return problem(
    found ? `the store belongs to ${found}, not to ${environment}` : "the store has no head row",
    found ? `Set --env ${found}, or --database to the other store.` : restore,
  );
}

async function checkClock(inspection: StoreInspection, bounds: Bounds): Promise<Found> {
  const { serverNow, lastRowAt, lastWindowAt } = await inspection.readTimes();
  const now = Date.now();
  const advice = "Synchronise the clocks, for example with chrony or systemd-timesyncd.";
  if (serverNow !== undefined && Math.abs(serverNow - now) > bounds.clockMsMax) {
    const seconds = Math.round(Math.abs(serverNow - now) / 1_000);
    const direction = serverNow > now ? "ahead of" : "behind";
    return warning(`the server's clock is ${seconds} s ${direction} this one`, advice);
  }
  const latest = Math.max(lastRowAt, lastWindowAt);
  if (latest > (serverNow ?? now) + bounds.clockMsMax) {
    const what = lastRowAt === latest ? "the last ledger row" : "the last count of requests";
    return warning(`${what} is in the future: ${formatInstant(latest)}`, advice);
  }
  return ok(serverNow === undefined ? "no time in the store is in the future" : "in step");
}
