import { basename } from "node:path";
import { auditEntry } from "../../domain/audit/audit.ts";
import type { ReplicaView } from "../../domain/operations/replica.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { isoOrNull } from "../../domain/values/times.ts";
import { json } from "../api/contract/contract.ts";
import { exampleTime } from "../api/contract/examples.ts";
import * as schema from "../api/contract/schema.ts";
import { ok } from "../messages/reply.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";

const exampleFile = {
  name: "production-20261116T080000Z.petstore",
  bytes: 41_200_318,
  createdAt: exampleTime,
};

const exampleRuns = {
  startedAt: exampleTime,
  succeededAt: "2026-11-16T08:00:07.000Z",
  failedAt: null,
  error: null,
};

const exampleBackups = {
  folder: "/var/lib/petstore/backups",
  everySeconds: 3_600,
  keep: 48,
  lastAt: exampleRuns.succeededAt,
  last: exampleRuns,
  drill: null,
  replica: exampleRuns,
  files: [exampleFile],
};

const fileFields: Record<string, schema.Schema> = {
  name: schema.text("The name of the file in the folder."),
  bytes: schema.number("The size of the file."),
  createdAt: schema.time("When the backup was started."),
};

export const backupSchemas: Readonly<Record<string, schema.Schema>> = {
  BackupFile: schema.responseObject("A backup that the service made.", fileFields, exampleFile),
  MaintenanceRuns: schema.responseObject(
    "The last runs of a task.",
    {
      startedAt: schema.timeOrNull(
        "When the service last started it. Null if only commands have run it.",
      ),
      succeededAt: schema.timeOrNull("When it last succeeded."),
      failedAt: schema.timeOrNull("When it last failed."),
      error: schema.textOrNull("Why it last failed."),
    },
    exampleRuns,
  ),
  Backups: schema.responseObject(
    "The backups that the service makes, and their folder.",
    {
      folder: schema.text("The folder on the machine of the service, or the address of a bucket."),
      everySeconds: {
        type: ["number", "null"],
        description: "The time between two scheduled backups, in seconds. Null without a schedule.",
      },
      keep: schema.number("How many backups the service keeps."),
      lastAt: schema.timeOrNull("When the last backup was made, by its record or its file."),
      last: schema.nullable(
        "MaintenanceRuns",
        "The last runs of the backup. Null if there were none.",
      ),
      drill: schema.nullable(
        "MaintenanceRuns",
        "The last runs of the drill. Null if there were none.",
      ),
      replica: schema.nullable(
        "MaintenanceRuns",
        "The last checks of the continuous copy. It has every update from before `succeededAt`. Null without `--replica-check`.",
      ),
      files: schema.listOf("BackupFile", "The newest first, at most 1,000."),
    },
    exampleBackups,
  ),
  MadeBackup: schema.responseObject(
    "A new backup.",
    { ...fileFields, seq: schema.seq("The last ledger row that it contains.") },
    { ...exampleFile, seq: 1207 },
  ),
};

const backupRunning = "A backup is being made. Try again when it has ended.";

const listBackups: AdminDeclaration = {
  method: "GET",
  path: "/backups",
  contract: {
    summary: "List backups",
    description:
      "Returns the backups that the service made, when the last backup and the last drill ran, and the schedule.",
    success: { 200: json("The backups.", "Backups") },
  },
  async handle({ store, admin }) {
    const { folder, everyMs, keep } = admin.backups;
    const [records, files] = await Promise.all([
      store.maintenance.listMaintenance(),
      admin.backups.listFiles(),
    ]);
    const body = {
      folder,
      everySeconds: everyMs === undefined ? null : everyMs / 1_000,
      keep,
      lastAt: isoOrNull(admin.backups.lastAt(records) ?? null),
      last: runsOf(records.find(({ task }) => task === "backup")),
      drill: runsOf(records.find(({ task }) => task === "drill")),
      replica: runsOf(admin.backups.replica?.runs()),
      files: files.map(({ createdAt, ...file }) => ({ ...file, createdAt: isoOrNull(createdAt) })),
    };
    return ok(body);
  },
};

/**
 * Makes a backup as the schedule does. It is completed even if the client disconnects. A file cannot be
 * part of a transaction, so the audit entry follows the backup, and a crash in between loses the entry.
 */
const makeBackup: AdminDeclaration = {
  method: "POST",
  path: "/backups",
  isLong: true,
  kind: "making",
  isOutside: true,
  contract: {
    summary: "Make a backup",
    description:
      "Makes a backup now, as the schedule does, and removes the oldest ones if there are too many. The response is sent when the file is complete, which can take minutes. The backup is completed even if the client disconnects.",
    success: { 201: json("The backup is complete.", "MadeBackup") },
    messages: { already_running: { already_running: backupRunning } },
    descriptions: {
      unavailable:
        "The store cannot be used at the moment, or the backup failed. `message` says why.",
    },
  },
  async run({ store, clock, admin }, { actor }) {
    const outcome = await admin.backups.makeNow();
    if (outcome.kind === "running") throw new ServiceError("already_running", backupRunning);
    if (outcome.kind === "failed") {
      throw new ServiceError("unavailable", `The backup failed: ${outcome.error}.`);
    }
    const { file, bytes, seq } = outcome.details as { file: string; bytes: number; seq: number };
    const name = basename(file);
    const now = clock.now();
    const entry = auditEntry({ actor, now }, "backup.made", name, { bytes, seq });
    await store.audit.addEntry(entry);
    // The backup is made also if the files cannot be listed now.
    const files = await admin.backups.listFiles().catch(() => []);
    const created = files.find((one) => one.name === name);
    const createdAt = isoOrNull(created?.createdAt ?? now);
    return { status: 201, body: JSON.stringify({ name, bytes, createdAt, seq }) };
  },
};

/** The last runs of a task, or null if there was none. */
function runsOf(record: ReturnType<ReplicaView["runs"]> | undefined) {
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

export const backupOperations = { listBackups, makeBackup };
