import { readCount, readNonEmpty, readOptionalDuration } from "./readers.ts";
import { setting } from "./setting.ts";

/** Backups that the service makes. */
export const backupsSettings = {
  backupEveryMs: setting({
    flag: "backup-every",
    variable: "PETSTORE_BACKUP_EVERY",
    placeholder: "DURATION",
    default: "",
    description:
      "How often the service makes a backup, such as `1h` or `1d`. Without it, only operators make them.",
    read: readOptionalDuration,
  }),
  backupKeep: setting({
    flag: "backup-keep",
    variable: "PETSTORE_BACKUP_KEEP",
    placeholder: "N",
    default: "48",
    description:
      "How many of its own backups the service keeps. It deletes older ones, unless the store lacks their last ledger row.",
    unit: "backups",
    read: readCount,
  }),
  backupFolder: setting({
    flag: "backup-folder",
    variable: "PETSTORE_BACKUP_FOLDER",
    placeholder: "FOLDER",
    default: "./data/backups",
    description:
      "Folder for the backups that the service makes. While it has backups of a missing store, that store is not created: it was lost.",
    read: readNonEmpty,
  }),
} as const;
