import { join } from "node:path";
import { fullAddress } from "../../backup/locate.ts";
import { type Config, readConfig } from "../../config.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { scratchStore } from "../../folders.ts";
import { systemClock } from "../../opening/engines.ts";
import { openExistingStore } from "../../opening/stores.ts";
import { print, printError, printWarning, withoutSecrets } from "../../output.ts";
import { command, json } from "../command.ts";
import { elapsedText } from "../paragraphs.ts";
import { assertBackup, type Restored, restoreAndVerify } from "./restored-store.ts";
import { backupFile, backupSettings, inScratchFolder, scratchParentOf } from "./scratch.ts";

/**
 * Restores a backup to a scratch folder, verifies it and removes it. Returns exit code 1 if the backup
 * cannot be restored. The outcome is recorded in the store, if there is one.
 */
export const drillCommand = command({
  name: "drill",
  summary: "Proves that a backup can be restored: restores it to a scratch folder and verifies it.",
  examples: [
    "petstore drill monday.petstore",
    "petstore drill monday.petstore --scratch /var/tmp --json",
  ],
  changes: "record",
  operands: backupFile,
  flags: {
    json,
    scratch: {
      placeholder: "FOLDER",
      description: "Folder to restore to. Default: that of FILE, for a bucket the current one.",
    },
  },
  settings: backupSettings,
  async run({ flags, operands: [file], settings }) {
    const config = readConfig(settings);
    // A mistyped name says nothing about the backups, so it is not recorded.
    await assertBackup(file, config);
    const startedMs = performance.now();
    const parent = flags.scratch ?? scratchParentOf(file);
    let restored: Restored;
    try {
      restored = await inScratchFolder(parent, (folder) =>
        restoreAndVerify(file, join(folder, scratchStore), config),
      );
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const message = withoutSecrets(error.message);
      const recorded = await record(config, { file, error: message });
      if (flags.json) print(JSON.stringify({ file, succeeded: false, error: message, recorded }));
      else printError(message);
      return 1;
    }
    const durationMs = Math.round(performance.now() - startedMs);
    const result = resultOf(fullAddress(file), restored, durationMs);
    const recorded = await record(config, result);
    if (flags.json) print(JSON.stringify({ ...result, succeeded: true, recorded }));
    else printResult(file, restored, durationMs);
    return 0;
  },
});

function resultOf(file: string, { manifest, durations }: Restored, durationMs: number) {
  const { at, version, engine, seq, hash, rows } = manifest;
  const ageMs = Math.max(0, systemClock.now() - Date.parse(at));
  return { file, at, ageMs, version, engine, seq, hash, rows, durationMs, ...durations };
}

function printResult(file: string, restored: Restored, durationMs: number): void {
  const { manifest, verification, durations } = restored;
  const { rows, entries, pets, seq, hash } = verification;
  const age = elapsedText(Math.max(0, systemClock.now() - Date.parse(manifest.at)));
  const steps = [
    `checksum ${elapsedText(durations.checkMs)}`,
    `restore ${elapsedText(durations.loadMs)}`,
    `verify ${elapsedText(durations.verifyMs)}`,
  ];
  print(
    `${file} can be restored. The drill took ${elapsedText(durationMs)} (${steps.join(", ")}).`,
  );
  print(`The backup is ${age} old: it has every update up to ${manifest.at}.`);
  print(`No faults found in ${rows} ledger rows, ${entries} entries, ${pets} pets.`);
  print(`The ledger ends at ${seq}:${hash}`);
}

/** Returns whether the outcome was recorded, and says why not. */
async function record(
  config: Config,
  outcome: { readonly file: string; readonly error?: string },
): Promise<boolean> {
  try {
    const store = await openExistingStore(config, systemClock, "writes");
    try {
      const { maintenance } = store;
      const now = systemClock.now();
      if (outcome.error !== undefined) await maintenance.failTask("drill", now, outcome.error);
      else await maintenance.endTask("drill", now, JSON.stringify(outcome));
    } finally {
      await store.close();
    }
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    printWarning(`the drill was not recorded: ${error.message}`);
    return false;
  }
}
