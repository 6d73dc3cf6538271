import { optional, readBackupFolder, readDuration, readNonEmpty, readText } from "./readers.ts";
import { count, setting } from "./setting.ts";

/** Backups that the service makes. */
export const backupsSettings = {
  backupEveryMs: setting({
    flag: "backup-every",
    placeholder: "DURATION",
    description:
      "How often the service makes a backup, such as `1h` or `1d`. Without it, only operators make them.",
    read: optional(readDuration),
  }),
  backupKeep: count({
    flag: "backup-keep",
    default: "48",
    description:
      "How many of its own backups the service keeps. It deletes older ones, but none with ledger rows that the store lacks.",
    unit: "backups",
  }),
  backupFolder: setting({
    flag: "backup-folder",
    placeholder: "FOLDER",
    default: "./data/backups",
    description:
      "Folder for the backups that the service makes, or a bucket: `s3://bucket/prefix`. If the store is missing but has backups here, the service does not start with an empty one.",
    read: readBackupFolder,
  }),
  backupKeyFile: setting({
    flag: "backup-key-file",
    placeholder: "FILE",
    description: "File with the key that encrypts backups. Without it, they are not encrypted.",
    read: readText,
  }),
  replicaCheck: setting({
    flag: "replica-check",
    placeholder: "COMMAND",
    description:
      "Command that succeeds only if every update is in the continuous copy of a SQLite store, such as `litestream sync -wait PATH`. The service runs it every 30 seconds.",
    read: optional(readNonEmpty),
    isSecret: true,
  }),
} as const;
