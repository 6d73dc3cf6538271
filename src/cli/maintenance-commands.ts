import { type SettingName, settings } from "../settings.ts";
import { backup } from "./backups/backup.ts";
import { drill } from "./backups/drill.ts";
import { restore } from "./backups/restore.ts";
import { type Command, command, json } from "./command.ts";
import { doctor } from "./doctor/doctor.ts";
import { upgrade } from "./upgrade.ts";
import { withExistingStore } from "./with-store.ts";

const backupFile = [
  { name: "FILE", description: "Backup, made by petstore backup or by the service." },
] as const;
const scratchOf = (text: string) => ({ placeholder: "FOLDER", description: text }) as const;

/** Commands that keep a store safe. */
export const maintenanceCommands: readonly Command[] = [
  command({
    name: "backup",
    summary: "Writes the whole store to a new file. The service can run meanwhile.",
    topic: "maintenance",
    examples: [
      "petstore backup /var/backups/petstore/monday.petstore",
      "petstore backup monday.petstore --env staging",
    ],
    operands: [{ name: "FILE", description: "File to create. - writes to standard output." }],
    flags: { json },
    run: withExistingStore(backup),
  }),
  command({
    name: "restore",
    summary: "Verifies a backup and makes it the store. Never replaces an existing store.",
    topic: "maintenance",
    examples: [
      "petstore restore monday.petstore",
      "petstore restore monday.petstore --database postgres://localhost/petstore",
    ],
    changes: true,
    operands: backupFile,
    flags: {
      json,
      scratch: scratchOf(
        "Folder in which the backup is verified first. PostgreSQL only. Default: the folder of FILE.",
      ),
    },
    run: restore,
  }),
  command({
    name: "drill",
    summary:
      "Proves that a backup can be restored: restores it to a scratch folder and verifies it.",
    topic: "maintenance",
    examples: [
      "petstore drill monday.petstore",
      "petstore drill monday.petstore --scratch /var/tmp --json",
    ],
    operands: backupFile,
    flags: { json, scratch: scratchOf("Folder to restore to. Default: the folder of FILE.") },
    run: drill,
  }),
  command({
    name: "upgrade",
    summary: "Shows what a start of this version would migrate, and tries it on a copy.",
    topic: "maintenance",
    examples: ["petstore upgrade --check"],
    flags: {
      check: { description: "Required: this command only checks. The next start migrates." },
      json,
    },
    run: upgrade,
  }),
  command({
    name: "doctor",
    summary: "Checks the settings, the store and the machine, and says what to do.",
    topic: "maintenance",
    examples: ["petstore doctor", "petstore doctor --env staging --json"],
    flags: { json },
    settings: Object.keys(settings) as SettingName[],
    run: doctor,
  }),
];
