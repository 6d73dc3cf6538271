import { every, whileAvailable } from "./background.ts";
import type { Log } from "./events.ts";
import { clockErrorMsMax, type MaintenanceRecord, type MaintenanceStore } from "./maintenance.ts";
import type { Clock } from "./ports.ts";

/** A backup that takes longer is ended. One whose end was not recorded by then was killed. */
export const backupMsMax = 3_600_000;

/** How long after a failure the next attempt starts, if the interval is longer. */
const retryMs = 300_000;

const pollMsMax = 10_000;
const pollsPerInterval = 20;

/** The part of the interval by which backups start later at random, and its maximum. */
const jitterShare = 0.1;
const jitterMsMax = 60_000;

/**
 * The time at which the next backup is due, by the record of the last one. Records are in the store,
 * so a restart neither skips a backup nor makes one twice.
 */
export function backupDueAt(
  record: MaintenanceRecord | undefined,
  everyMs: number,
  now: number,
): number {
  if (!record || isByWrongClock(record, now)) return Number.NEGATIVE_INFINITY;
  const { startedAt } = record;
  const succeededAt = record.succeededAt ?? Number.NEGATIVE_INFINITY;
  const failedAt = record.failedAt ?? Number.NEGATIVE_INFINITY;
  // It still runs, perhaps in another instance, or its process was killed.
  if (succeededAt < startedAt && failedAt < startedAt) return startedAt + backupMsMax;
  return succeededAt < failedAt ? failedAt + Math.min(everyMs, retryMs) : startedAt + everyMs;
}

function isByWrongClock({ startedAt }: MaintenanceRecord, now: number): boolean {
  return startedAt > now + clockErrorMsMax;
}

export interface BackupOptions {
  readonly maintenance: MaintenanceStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly everyMs: number;
  /**
   * Makes a backup and records its success in the store. Returns details for the log. Rejects if it
   * fails, and soon after the signal is aborted.
   */
  make(signal: AbortSignal): Promise<Record<string, unknown>>;
}

export interface Backups {
  /** Ends a backup that is being made. Resolves when nothing uses the store any more. */
  stop(): Promise<void>;
}

/** Makes backups at an interval, one at a time. Of several instances on one store, one makes each. */
export function startBackups(options: BackupOptions): Backups {
  const { maintenance, clock, random, log, everyMs, make } = options;
  const stopping = new AbortController();
  let failures = 0;
  let jitterMs = nextJitterMs();
  let checking: Promise<void> = Promise.resolve();

  /** Services that started together do not make their backups at the same moment. */
  function nextJitterMs(): number {
    return random() * Math.min(everyMs * jitterShare, jitterMsMax);
  }

  async function check(): Promise<void> {
    const records = await maintenance.listMaintenance();
    // Read after the records: if the clock moved back meanwhile, another instance may have started one.
    const now = clock.now();
    const record = records.find(({ task }) => task === "backup");
    if (now < backupDueAt(record, everyMs, now) + jitterMs || stopping.signal.aborted) return;
    // Fails if another instance has started one since the record was read.
    const dueAfter = record && !isByWrongClock(record, now) ? record.startedAt : 0;
    if (!(await maintenance.startTask("backup", now, dueAfter))) return;
    jitterMs = nextJitterMs();
    try {
      const details = await make(stopping.signal);
      log("backup made", failures > 0 ? { ...details, failures } : details);
      failures = 0;
    } catch (error) {
      await failed(error instanceof Error ? error.message : String(error));
    }
  }

  async function failed(error: string): Promise<void> {
    const isStopped = stopping.signal.aborted;
    if (!isStopped) failures += 1;
    if (!isStopped && failures === 1) log("backup failed", { error });
    await maintenance.failTask("backup", clock.now(), isStopped ? "the service stopped" : error);
  }

  const pollMs = Math.min(everyMs / pollsPerInterval, pollMsMax);
  const stopPolling = every(pollMs, "backups", log, () => {
    checking = whileAvailable(check)();
    return checking;
  });

  return {
    async stop() {
      stopPolling();
      stopping.abort();
      await checking.catch(() => {});
    },
  };
}
