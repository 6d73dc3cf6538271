import {
  boundedInteger,
  nullable,
  reference,
  responseObject,
  type Schema,
  seq,
} from "../../api/contract/schema.ts";
import { backupRunning } from "../backups.ts";
import { exampleTime } from "./examples.ts";
import type { AdminContract } from "./operation.ts";

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
  last: exampleRuns,
  drill: null,
  files: [exampleFile],
};
const exampleMade = { ...exampleFile, seq: 1207 };

const integer = (description: string): Schema => ({
  ...boundedInteger(0, Number.MAX_SAFE_INTEGER),
  description,
});
const time = (description: string): Schema => ({
  type: ["string", "null"],
  format: "date-time",
  description,
});
const createdAt: Schema = {
  type: "string",
  format: "date-time",
  description: "When the backup was started.",
};

export const backupSchemas: Readonly<Record<string, Schema>> = {
  BackupFile: responseObject(
    "A backup that the service made.",
    {
      name: { type: "string", description: "The name of the file in the folder." },
      bytes: integer("The size of the file."),
      createdAt,
    },
    exampleFile,
  ),
  MaintenanceRuns: responseObject(
    "The last runs of a task.",
    {
      startedAt: time("When the service last started it. Null if only commands have done it."),
      succeededAt: time("When it last succeeded."),
      failedAt: time("When it last failed."),
      error: { type: ["string", "null"], description: "Why it last failed." },
    },
    exampleRuns,
  ),
  Backups: responseObject(
    "The backups that the service makes, and their folder.",
    {
      folder: { type: "string", description: "The folder on the machine of the service." },
      everySeconds: {
        type: ["number", "null"],
        description: "How often the service makes a backup. Null without a schedule.",
      },
      keep: integer("How many backups the service keeps."),
      last: nullable("MaintenanceRuns", "The last backups. Null if there was none."),
      drill: nullable("MaintenanceRuns", "The last drills. Null if there was none."),
      files: {
        type: "array",
        items: reference("schemas", "BackupFile"),
        description: "The newest first, at most 1,000.",
      },
    },
    exampleBackups,
  ),
  MadeBackup: responseObject(
    "A new backup.",
    {
      name: { type: "string", description: "The name of the file in the folder." },
      bytes: integer("The size of the file."),
      createdAt,
      seq: seq("The last ledger row that it contains."),
    },
    exampleMade,
  ),
};

export const listBackups: AdminContract = {
  tag: "Backups",
  summary: "List backups",
  description:
    "Returns the backups that the service made, when the last backup and the last drill ran, and the schedule.",
  success: {
    200: {
      description: "The backups.",
      schema: reference("schemas", "Backups"),
      examples: { hourly: { summary: "One backup an hour", value: exampleBackups } },
    },
  },
  errors: [],
};

export const makeBackup: AdminContract = {
  tag: "Backups",
  summary: "Make a backup",
  description:
    "Makes a backup now, like those of the schedule, and removes the oldest ones. The response is sent when the file is complete, which can take minutes. The backup is completed even if the client disconnects.",
  success: {
    201: {
      description: "The backup is complete.",
      schema: reference("schemas", "MadeBackup"),
      examples: { made: { summary: "A new backup", value: exampleMade } },
    },
  },
  errors: ["already_running"],
  messages: { already_running: { already_running: backupRunning } },
  descriptions: {
    unavailable:
      "The store cannot be used at the moment, or the backup failed. `message` says why.",
  },
};
