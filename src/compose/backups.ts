import { listAhead } from "../backup/ahead.ts";
import {
  listBackups,
  newBackupName,
  removeAbandoned,
  removeOldBackups,
  removeUnfinished,
} from "../backup/folder.ts";
import { openPlace } from "../backup/locate.ts";
import { PlaceError } from "../backup/place.ts";
import { childVariables } from "../config.ts";
import { lastBackupAt } from "../domain/operations/attention.ts";
import { type BackupView, backupMsMax, startBackups } from "../domain/operations/backups.ts";
import { watchReplica } from "../domain/operations/replica.ts";
import { every, inBackground, whileAvailable } from "../domain/running/background.ts";
import { ServiceError } from "../domain/running/errors.ts";
import type { Store } from "../domain/store.ts";
import { hasOwnBackups } from "../opening/creation.ts";
import { failureOf, runCommand, runShell, withoutProgram } from "./child.ts";
import type { ServiceOptions } from "./options.ts";

/** The folder may have any number of files. */
const filesListedMax = 1_000;

/** Operators move files in and out of the folder. */
const compareEveryMs = 600_000;

/**
 * Makes backups with the command that operators use, in a process of its own: compressing takes
 * CPU time, and reading a SQLite file blocks. They are made for the schedule and for operators.
 */
export function openBackups(
  { config, clock, log, program }: ServiceOptions,
  { maintenance, history }: Store,
): BackupView & { stop(): Promise<void> } {
  const { backupEveryMs: everyMs, backupKeep: keep, environment } = config;
  const place = openPlace(config.backupFolder, config);
  const folder = { place, environment };
  const variables = childVariables(config);
  const isOwn = hasOwnBackups(config);
  let ahead: readonly string[] | undefined;
  let known: Awaited<ReturnType<BackupView["listFiles"]>> | undefined;
  let shown: typeof known;
  let problem: string | undefined;

  const noted = (error: unknown) => {
    if (error instanceof PlaceError) problem = error.message;
    throw error;
  };

  /** Lists the backups, and looks for those that have ledger rows which the store does not have. */
  async function compare(): Promise<readonly string[]> {
    known = await listBackups(folder, Infinity).catch(noted);
    const found = await listAhead(place, known, history.hasRow).catch(noted);
    if (found.length > 0 && found.join() !== ahead?.join()) {
      const newest = place.addressOf(found[0]!);
      log("backups ahead of the store", { files: found.length, newest });
    }
    [ahead, problem] = [found, undefined];
    return found;
  }

  async function make(stopping: AbortSignal): Promise<Record<string, unknown>> {
    place.prepare();
    const now = clock.now();
    const name = await newBackupName(folder, now);
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(backupMsMax)]);
    try {
      const words = ["backup", place.addressOf(name), "--json"];
      const result = await runCommand({ command: program!, variables }, words, signal);
      if (result.ended !== 0) throw failureOf(result, signal);
      const { file, seq, bytes, durationMs } = JSON.parse(result.out) as Record<string, unknown>;
      // The backup is made also if no older one can be compared or removed. The next one tries it again.
      const removing = compare().then((found) => removeOldBackups(folder, keep, name, found));
      const removed = await removing.catch(() => 0);
      await removeAbandoned(folder, now - backupMsMax);
      return { file, seq, bytes, durationMs, removed };
    } catch (error) {
      await removeUnfinished(folder, name);
      throw error;
    }
  }

  /** Lists what a bucket had before if it cannot be reached now. The next backup reports the error. */
  async function listFiles() {
    try {
      shown = await listBackups(folder, filesListedMax);
      known = shown;
    } catch (error) {
      if (!(error instanceof PlaceError)) throw error;
      const message = `The backups are not known now: ${error.message}. Run petstore doctor.`;
      if (!shown) throw new ServiceError("unavailable", message);
    }
    return shown;
  }

  const { replicaCheck, replicaCheckEveryMs } = config;
  const check = (signal: AbortSignal) => runShell(replicaCheck!, signal);
  const watched = { check, everyMs: replicaCheckEveryMs, clock, log };
  const replica = replicaCheck === undefined ? undefined : watchReplica(watched);
  const options = { maintenance, clock, random: Math.random, log, everyMs, make };
  const backups = program && startBackups(options);
  const task = "comparing the backups with the store";
  const comparing = whileAvailable(async () => {
    if (isOwn) await compare();
  });
  inBackground(task, log, comparing)();
  const stopComparing = every(compareEveryMs, task, log, comparing);
  return {
    ...{ folder: place.address, everyMs, keep },
    replica,
    listAhead: () => ahead?.map(place.addressOf),
    lastAt: (records) => lastBackupAt(records, isOwn ? known : [], clock.now()),
    findProblem: () => problem,
    listFiles,
    makeNow: async () => (backups ? backups.makeNow() : { kind: "failed", error: withoutProgram }),
    async stop() {
      stopComparing();
      replica?.stop();
      await backups?.stop();
    },
  };
}
