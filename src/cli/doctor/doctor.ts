import { existsSync, realpathSync } from "node:fs";
import { commandLine } from "../../command-lines.ts";
import { type Config, explainConfig } from "../../config.ts";
import type { StoreInspection } from "../../domain/operations/inspection.ts";
import { formatInstant } from "../../domain/values/times.ts";
import { findNewestBackup } from "../../opening/creation.ts";
import { sqlitePath } from "../../opening/store-file.ts";
import { inspectStore } from "../../opening/stores.ts";
import { print, withoutSecrets } from "../../output.ts";
import { settingNames } from "../../settings.ts";
import { adviceFor, schemaNumber } from "../../store/schema.ts";
import { command, json } from "../command.ts";
import { counted, wrap } from "../paragraphs.ts";
import { contentChecks } from "./content.ts";
import { fileChecks, storeBytes } from "./files.ts";
import {
  type Bounds,
  type Check,
  defaultBounds,
  type Finding,
  type Found,
  ok,
  problem,
  runCheck,
  runChecks,
  warning,
} from "./finding.ts";
import { machineChecks } from "./machine.ts";
import { portChecks } from "./ports.ts";

/** Returns exit code 1 if there is a problem. Warnings do not count. */
export const doctorCommand = command({
  name: "doctor",
  summary: "Checks the settings, the store and the machine, and says what to do.",
  examples: ["petstore doctor", "petstore doctor --env staging --json"],
  flags: { json },
  settings: settingNames,
  async run({ flags, settings }) {
    const findings = await examine(settings);
    const checks = findings.map((one) => ({ ...one, found: withoutSecrets(one.found) }));
    const count = (result: Finding["result"]) =>
      checks.filter((one) => one.result === result).length;
    const problems = count("problem");
    const warnings = count("warning");
    if (flags.json) print(JSON.stringify({ ok: problems === 0, problems, warnings, checks }));
    else {
      const width = Math.max(...checks.map(({ name }) => name.length));
      for (const finding of checks) for (const line of linesOf(finding, width)) print(line);
      print("");
      print(`${counted(problems, "problem")}, ${counted(warnings, "warning")}.`);
    }
    return problems === 0 ? 0 : 1;
  },
});

/** Runs every check that the state of the store allows. Changes nothing. */
export async function examine(
  flags: Readonly<Record<string, string>>,
  variables?: Readonly<Record<string, string | undefined>>,
  bounds: Bounds = defaultBounds,
): Promise<readonly Finding[]> {
  const { all, problems, warnings, config } = explainConfig(flags, variables);
  if (!config) {
    const advice = "Correct it first: the other checks need valid settings.";
    return problems.map((found) => ({ name: "configuration", ...problem(found, advice) }));
  }
  const changed = all.filter(({ origin }) => origin !== "default").length;
  const path = sqlitePath(config);
  const isMissing = path !== undefined && !existsSync(path);
  const newest = await findNewestBackup(config).catch((error: Error) => error);
  const size = path === undefined || isMissing ? 0 : storeBytes(realpathSync(path));
  const valid = `${all.length} settings are valid, ${changed} are not the default`;
  return [
    { name: "configuration", ...ok(valid) },
    ...warnings.map((found) => ({
      name: "configuration",
      ...warning(found, "Make the file private."),
    })),
    ...(path === undefined || isMissing ? [] : await runChecks(fileChecks(path, bounds))),
    ...(await runCheck(["store", storeAdvice(config, newest), () => examineStore(config, bounds)])),
    ...(await runChecks(machineChecks(config, bounds, size))),
    ...(await runChecks(portChecks(config))),
  ];
}

async function examineStore(config: Config, bounds: Bounds): Promise<readonly Finding[]> {
  const inspection = await inspectStore(config, bounds.databaseMs);
  try {
    return await checkStore(inspection, config, bounds);
  } finally {
    inspection.close();
  }
}

function storeAdvice(config: Config, newest: string | Error | undefined): string {
  const advice =
    sqlitePath(config) === undefined
      ? "Check --database, the network, and that the server runs and accepts this user."
      : "Check --database and --env, and the current folder: a relative path starts there.";
  if (newest === undefined) return advice;
  return typeof newest === "string"
    ? `${advice} If the store is lost, run ${commandLine(config, ["restore", newest])}.`
    : `${advice} Whether it has backups is not known: ${newest.message}.`;
}

function linesOf({ name, result, found, advice }: Finding, width: number): readonly string[] {
  const indent = " ".repeat("warning".length + 2 + width + 2);
  const first = `${result.padEnd("warning".length)}  ${name.padEnd(width)}  `;
  const text = wrap(found, indent, first) + (advice ? `\n${wrap(advice, indent, indent)}` : "");
  return text.split("\n");
}

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
