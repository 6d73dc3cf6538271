import { readConfig } from "../config.ts";
import type { UpgradePlan, UpgradeTrial } from "../domain/operations/upgrades.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { print } from "../output.ts";
import { openUpgradeCheck } from "../stores.ts";
import { command, json } from "./command.ts";
import { counted } from "./paragraphs.ts";

/**
 * Shows what a start would migrate, and tries it on a copy. Returns exit code 1 if a start would fail
 * or would leave a store with faults.
 */
export const upgradeCommand = command({
  name: "upgrade",
  summary: "Shows what a start of this version would migrate, and tries it on a copy.",
  examples: ["petstore upgrade --check"],
  flags: {
    check: { description: "Required: this command only checks. The next start migrates." },
    json,
  },
  async run({ flags, settings }) {
    if (!flags.check) {
      throw new ServiceError(
        "invalid_request",
        "a start of this version migrates the store; petstore upgrade --check shows what it would do",
      );
    }
    await using check = await openUpgradeCheck(readConfig(settings));
    const { plan } = check;
    const trial = plan.steps.length === 0 ? undefined : await attempt(check.tryOnCopy);
    const hasRoom = !plan.room || plan.room.freeBytes >= plan.room.neededBytes;
    const isSound = trial === undefined || (!("failure" in trial) && trial.faultCount === 0);
    if (flags.json) print(JSON.stringify({ ...plan, trial: trial ?? null }));
    else for (const line of [...describePlan(plan), ...describeTrial(trial)]) print(line);
    return isSound && (hasRoom || plan.steps.length === 0) ? 0 : 1;
  },
});

type Attempt = UpgradeTrial | { readonly failure: string };

async function attempt(tryOnCopy: () => Promise<UpgradeTrial>): Promise<Attempt> {
  try {
    return await tryOnCopy();
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

function* describePlan({ store, current, steps, room }: UpgradePlan): Generator<string> {
  yield `The store has schema ${store.version}, of ${store.release}. This version uses schema ${current.version}, of ${current.release}.`;
  if (steps.length === 0) {
    yield "A start migrates nothing.";
    return;
  }
  yield `A start applies ${counted(steps.length, "step")}:`;
  for (const { version, summary, fitsRelease } of steps) {
    const others =
      fitsRelease === null ? "" : ` Instances of ${fitsRelease} or later keep running.`;
    yield `  ${version}. ${summary}${others}`;
  }
  if (!room) return;
  yield "Stop the older version before the start. It cannot open the store afterwards.";
  const [needed, free] = [inMegabytes(room.neededBytes), inMegabytes(room.freeBytes)];
  yield room.freeBytes >= room.neededBytes
    ? `The start first makes a backup of ${needed} in ${room.folder}, where ${free} are free.`
    : `There is no room for the backup that the start makes first: it needs ${needed} in ${room.folder}, where ${free} are free.`;
}

function* describeTrial(trial: Attempt | undefined): Generator<string> {
  if (!trial) return;
  if ("failure" in trial) {
    yield `The migration of a copy failed: ${trial.failure}`;
    return;
  }
  for (const fault of trial.faults) yield fault;
  const result = trial.faultCount === 0 ? "no faults found" : `${trial.faultCount} faults found`;
  yield `Tried on a copy with ${trial.rows} ledger rows: copied in ${inSeconds(trial.copyMs)}, migrated in ${inSeconds(trial.migrateMs)}, verified in ${inSeconds(trial.verifyMs)}; ${result}.`;
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
