import { every, whileAvailable } from "../running/background.ts";
import type { Clock } from "../running/clock.ts";
import { unavailable } from "../running/errors.ts";
import type { Log } from "../running/events.ts";
import { clockErrorMsMax, type MaintenanceRecord, type MaintenanceStore } from "./maintenance.ts";
import type { ReplicaView } from "./replica.ts";

/** A backup that takes longer is ended. If no end was recorded by then, its process was killed. */
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
  if (isUnfinished(record)) return startedAt + backupMsMax;
  return succeededAt < failedAt ? failedAt + Math.min(everyMs, retryMs) : startedAt + everyMs;
}

/** The last one has neither succeeded nor failed. */
function isUnfinished({ startedAt, succeededAt, failedAt }: MaintenanceRecord): boolean {
  return (succeededAt ?? -1) < startedAt && (failedAt ?? -1) < startedAt;
}

function isByWrongClock({ startedAt }: MaintenanceRecord, now: number): boolean {
  return startedAt > now + clockErrorMsMax;
}

export interface BackupOptions {
  readonly maintenance: MaintenanceStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Undefined if backups are made only on demand. */
  readonly everyMs: number | undefined;
  /**
   * Makes a backup and records its success in the store. Returns details for the log. Rejects if it
   * fails, and soon after the signal is aborted.
   */
  make(signal: AbortSignal): Promise<Record<string, unknown>>;
}

/** What became of a backup. */
export type BackupOutcome =
  | { readonly kind: "made"; readonly details: Record<string, unknown> }
  | { readonly kind: "failed"; readonly error: string }
  /** Another one is being made, perhaps by another instance. */
  | { readonly kind: "running" };

export interface Backups {
  /** Makes a backup now. The next one by the schedule is due an interval later. */
  makeNow(): Promise<BackupOutcome>;
  /** Ends a backup that is being made. Resolves when nothing uses the store any more. */
  stop(): Promise<void>;
}

/** The backups that the service makes. */
export interface BackupView {
  readonly folder: string;
  /** Undefined without a schedule. */
  readonly everyMs: number | undefined;
  readonly keep: number;
  /** The files with ledger rows that the store does not have. Undefined until they were compared. */
  listAhead(): readonly string[] | undefined;
  /** When the last one was made, with the files that were listed last. See `lastBackupAt`. */
  lastAt(records: readonly MaintenanceRecord[]): number | null | undefined;
  /** Why the files could not be read when they were last compared, if they could not. */
  findProblem(): string | undefined;
  /** The newest first. */
  listFiles(): Promise<readonly BackupFile[]>;
  makeNow(): Promise<BackupOutcome>;
  /** Undefined if nothing checks a continuous copy. */
  readonly replica: ReplicaView | undefined;
}

/** How an object storage is reached. */
export interface ObjectAccess {
  /** Contains `{bucket}` if the bucket is part of the host name. Otherwise it is part of the path. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only temporary credentials have one. */
  readonly sessionToken: string;
}

/** A backup that the service made. */
export interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  /** When it was started, by its name. Milliseconds since 1970. */
  readonly createdAt: number;
}

/**
 * Makes backups at an interval and on demand, one at a time. If several instances share a store, only one
 * of them makes each backup.
 */
export function startBackups(options: BackupOptions): Backups {
  const { maintenance, clock, random, log, everyMs, make } = options;
  const stopping = new AbortController();
  let failures = 0;
  /** What a stop waits for. */
  const working = new Set<Promise<unknown>>();

  async function readRecord() {
    const records = await maintenance.listMaintenance();
    // Read after the records: if the clock moved back meanwhile, another instance may have started one.
    return { record: records.find(({ task }) => task === "backup"), now: clock.now() };
  }

  async function makeAfter(
    record: MaintenanceRecord | undefined,
    now: number,
  ): Promise<BackupOutcome> {
    // Fails if another instance has started one since the record was read.
    const dueAfter = record && !isByWrongClock(record, now) ? record.startedAt : 0;
    if (!(await maintenance.startTask("backup", now, dueAfter))) return { kind: "running" };
    try {
      const details = await make(stopping.signal);
      log("backup made", failures > 0 ? { ...details, failures } : details);
      failures = 0;
      return { kind: "made", details };
    } catch (error) {
      return { kind: "failed", error: await failed(messageOf(error)) };
    }
  }

  /** Starts a poll at the interval. Returns what stops it. */
  function schedule(intervalMs: number): () => void {
    /** Services that started together do not make their backups at the same moment. */
    const nextJitterMs = () => random() * Math.min(intervalMs * jitterShare, jitterMsMax);
    let jitterMs = nextJitterMs();
    async function check(): Promise<void> {
      const { record, now } = await readRecord();
      if (now < backupDueAt(record, intervalMs, now) + jitterMs || stopping.signal.aborted) return;
      const { kind } = await makeAfter(record, now);
      if (kind !== "running") jitterMs = nextJitterMs();
    }
    const pollMs = Math.min(intervalMs / pollsPerInterval, pollMsMax);
    return every(pollMs, "backups", log, () => tracked(whileAvailable(check)()));
  }

  function tracked<T>(work: Promise<T>): Promise<T> {
    working.add(work);
    return work.finally(() => working.delete(work));
  }

  async function makeNow(): Promise<BackupOutcome> {
    const { record, now } = await readRecord();
    if (stopping.signal.aborted) throw unavailable("stopping");
    const isRunning =
      record &&
      !isByWrongClock(record, now) &&
      isUnfinished(record) &&
      now < record.startedAt + backupMsMax;
    return isRunning ? { kind: "running" } : makeAfter(record, now);
  }

  async function failed(error: string): Promise<string> {
    const isStopped = stopping.signal.aborted;
    if (!isStopped) failures += 1;
    if (!isStopped && failures === 1) log("backup failed", { error });
    const reason = isStopped ? "the service stopped" : error;
    await maintenance.failTask("backup", clock.now(), reason);
    return reason;
  }

  const stopPolling = everyMs === undefined ? undefined : schedule(everyMs);

  return {
    makeNow: () => tracked(makeNow()),
    async stop() {
      stopPolling?.();
      stopping.abort();
      await Promise.allSettled(working);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
