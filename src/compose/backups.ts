import { resolve } from "node:path";
import {
  listBackups,
  newBackupPath,
  prepareFolder,
  removeAbandoned,
  removeOldBackups,
  removeUnfinished,
} from "../backup/folder.ts";
import { childVariables } from "../config.ts";
import { type BackupView, backupMsMax, startBackups } from "../domain/backups.ts";
import type { Store } from "../domain/ports.ts";
import { failureOf, runCommand, withoutProgram } from "./child.ts";
import type { ServiceOptions } from "./options.ts";

/** The backups that the service makes, for its schedule and for operators. */
export interface ServiceBackups extends BackupView {
  stop(): Promise<void>;
}

/** The folder may have any number of files. */
const filesListedMax = 1_000;

/**
 * Makes backups with the command that operators use, in a process of its own: compressing takes
 * CPU time, and reading a SQLite file blocks.
 */
export function openBackups(
  { config, clock, log, program }: ServiceOptions,
  { maintenance }: Store,
): ServiceBackups {
  const { backupEveryMs: everyMs, backupKeep: keep, environment } = config;
  const folder = { path: config.backupFolder, environment };
  const variables = childVariables(config);

  async function make(stopping: AbortSignal): Promise<Record<string, unknown>> {
    prepareFolder(folder);
    const now = clock.now();
    const path = await newBackupPath(folder, now);
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(backupMsMax)]);
    try {
      const words = ["backup", path, "--json"];
      const result = await runCommand({ command: program!, variables }, words, { signal });
      if (result.ended !== 0) throw failureOf(result, signal);
      const { file, seq, bytes, durationMs } = JSON.parse(result.out) as Record<string, unknown>;
      const removed = await removeOldBackups(folder, keep, path);
      await removeAbandoned(folder, now - backupMsMax);
      return { file, seq, bytes, durationMs, removed };
    } catch (error) {
      await removeUnfinished(folder, path);
      throw error;
    }
  }

  const options = { maintenance, clock, random: Math.random, log, everyMs, make };
  const backups = program && startBackups(options);
  return {
    ...{ folder: resolve(folder.path), everyMs, keep },
    listFiles: () => listBackups(folder, filesListedMax),
    makeNow: async () => (backups ? backups.makeNow() : { kind: "failed", error: withoutProgram }),
    stop: async () => backups?.stop(),
  };
}
