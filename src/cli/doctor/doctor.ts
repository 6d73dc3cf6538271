import { existsSync, realpathSync } from "node:fs";
import { commandLine } from "../../command-lines.ts";
import { type Config, explainConfig } from "../../config.ts";
import { findNewestBackup } from "../../opening/creation.ts";
import { sqlitePath } from "../../opening/store-file.ts";
import { inspectStore } from "../../opening/stores.ts";
import { print, withoutSecrets } from "../../output.ts";
import { settingNames } from "../../settings.ts";
import { command, json } from "../command.ts";
import { counted, wrap } from "../paragraphs.ts";
import { fileChecks, storeBytes } from "./files.ts";
import {
  type Bounds,
  defaultBounds,
  type Finding,
  ok,
  problem,
  runCheck,
  runChecks,
  warning,
} from "./finding.ts";
import { machineChecks } from "./machine.ts";
import { portChecks } from "./ports.ts";
import { checkStore } from "./store.ts";

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
