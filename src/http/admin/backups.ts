import { basename } from "node:path";
import { auditEntry } from "../../domain/audit/audit.ts";
import type { MaintenanceRecord, MaintenanceTask } from "../../domain/operations/maintenance.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { actorOf } from "./actor.ts";
import { isoOrNull } from "./times.ts";
import { whileWaiting } from "./waiting.ts";

export const backupRunning = "A backup is being made. Try again when it has ended.";

export async function listBackups({ store, admin }: Context): Promise<Reply> {
  const { folder, everyMs, keep } = admin.backups;
  const [records, files] = await Promise.all([
    store.maintenance.listMaintenance(),
    admin.backups.listFiles(),
  ]);
  const body = {
    folder,
    everySeconds: everyMs === undefined ? null : everyMs / 1_000,
    keep,
    last: runsOf(records, "backup"),
    drill: runsOf(records, "drill"),
    files: files.map(({ createdAt, ...file }) => ({ ...file, createdAt: isoOrNull(createdAt) })),
  };
  return { status: 200, body: JSON.stringify(body) };
}

/** The last runs of a task, or null if there was none. */
function runsOf(records: readonly MaintenanceRecord[], wanted: MaintenanceTask) {
  const record = records.find(({ task }) => task === wanted);
  if (!record) return null;
  const { startedAt, succeededAt, failedAt, error } = record;
  return {
    // Commands record no start.
    startedAt: isoOrNull(startedAt === 0 ? null : startedAt),
    succeededAt: isoOrNull(succeededAt),
    failedAt: isoOrNull(failedAt),
    error,
  };
}

/**
 * Makes a backup as the schedule does. It is completed even if the client disconnects. A file cannot be
 * part of a transaction, so the audit entry follows the backup, and a crash in between loses the entry.
 */
export async function makeBackup(context: Context, call: Call): Promise<Reply> {
  const { store, clock, admin } = context;
  const outcome = await whileWaiting(context, call, admin.backups.makeNow);
  if (outcome.kind === "running") throw new ServiceError("already_running", backupRunning);
  if (outcome.kind === "failed") {
    throw new ServiceError("unavailable", `The backup failed: ${outcome.error}.`);
  }
  const { file, bytes, seq } = outcome.details as { file: string; bytes: number; seq: number };
  const name = basename(file);
  const now = clock.now();
  const entry = auditEntry(actorOf(call), now, "backup.made", name, { bytes, seq });
  await store.audit.addEntry(entry);
  const created = (await admin.backups.listFiles()).find((one) => one.name === name);
  const createdAt = isoOrNull(created?.createdAt ?? now);
  return { status: 201, body: JSON.stringify({ name, bytes, createdAt, seq }) };
}
