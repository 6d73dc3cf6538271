import { join, resolve } from "node:path";
import { listAhead } from "../backup/ahead.ts";
import {
  listBackups,
  newBackupPath,
  removeAbandoned,
  removeOldBackups,
  removeUnfinished,
} from "../backup/folder.ts";
import { childVariables } from "../config.ts";
import { hasOwnBackups } from "../creation.ts";
import { type BackupView, backupMsMax, startBackups } from "../domain/operations/backups.ts";
import { watchReplica } from "../domain/operations/replica.ts";
import { every, inBackground, whileAvailable } from "../domain/running/background.ts";
import type { Store } from "../domain/store.ts";
import { createFolder } from "../folders.ts";
import { failureOf, runCommand, runShell, withoutProgram } from "./child.ts";
import type { ServiceOptions } from "./options.ts";

/** The backups that the service makes, for its schedule and for operators. */
export interface ServiceBackups extends BackupView {
  stop(): Promise<void>;
}

/** The folder may have any number of files. */
const filesListedMax = 1_000;

/** Operators move files in and out of the folder. */
const compareEveryMs = 600_000;

/**
 * Makes backups with the command that operators use, in a process of its own: compressing takes
 * CPU time, and reading a SQLite file blocks.
 */
export function openBackups(
  { config, clock, log, program }: ServiceOptions,
  { maintenance, history }: Store,
): ServiceBackups {
  const { backupEveryMs: everyMs, backupKeep: keep, environment } = config;
  const folder = { path: config.backupFolder, environment };
  const variables = childVariables(config);
  let ahead: readonly string[] | undefined;

  /** Looks for backups that have ledger rows which the store does not have. */
  async function compare(): Promise<readonly string[]> {
    const found = await listAhead(folder, history.hasRow);
    if (found.length > 0 && found.join() !== ahead?.join()) {
      const newest = join(resolve(folder.path), found[0]!);
      log("backups ahead of the store", { files: found.length, newest });
    }
    ahead = found;
    return found;
  }

  async function make(stopping: AbortSignal): Promise<Record<string, unknown>> {
    // Only the owner may read backups. They contain stock, key digests and webhook secrets.
    createFolder(folder.path);
    const now = clock.now();
    const path = await newBackupPath(folder, now);
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(backupMsMax)]);
    try {
      const words = ["backup", path, "--json"];
      const result = await runCommand({ command: program!, variables }, words, { signal });
      if (result.ended !== 0) throw failureOf(result, signal);
      const { file, seq, bytes, durationMs } = JSON.parse(result.out) as Record<string, unknown>;
      // Without the comparison nothing is removed. The next backup compares again.
      const compared = await compare().catch(() => undefined);
      const removed = compared ? await removeOldBackups(folder, keep, path, compared) : 0;
      await removeAbandoned(folder, now - backupMsMax);
      return { file, seq, bytes, durationMs, removed };
    } catch (error) {
      await removeUnfinished(folder, path);
      throw error;
    }
  }

  const { replicaCheck, replicaCheckEveryMs } = config;
  const check = (signal: AbortSignal) => runShell(replicaCheck!, signal);
  const watched = { check, everyMs: replicaCheckEveryMs, clock, log };
  const replica = replicaCheck === undefined ? undefined : watchReplica(watched);
  const options = { maintenance, clock, random: Math.random, log, everyMs, make };
  const backups = program && startBackups(options);
  const task = "comparing the backups with the store";
  const comparing = whileAvailable(async () => {
    if (hasOwnBackups(config)) await compare();
  });
  inBackground(task, log, comparing)();
  const stopComparing = every(compareEveryMs, task, log, comparing);
  return {
    ...{ folder: resolve(folder.path), everyMs, keep },
    replica,
    countAhead: () => ahead?.length,
    listFiles: () => listBackups(folder, filesListedMax),
    makeNow: async () => (backups ? backups.makeNow() : { kind: "failed", error: withoutProgram }),
    async stop() {
      stopComparing();
      replica?.stop();
      await backups?.stop();
    },
  };
}
