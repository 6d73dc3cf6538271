import { type SettingName, settings } from "../settings.ts";
import { backup } from "./backups/backup.ts";
import { drill } from "./backups/drill.ts";
import { restore } from "./backups/restore.ts";
import { type Command, command, json, storeSettings } from "./command.ts";
import { doctor } from "./doctor/doctor.ts";
import { upgrade } from "./upgrade.ts";
import { withExistingStore } from "./with-store.ts";

const backupFile = [{ name: "FILE", description: "File that petstore backup has made." }] as const;
const scratchOf = (text: string) => ({ placeholder: "FOLDER", description: text }) as const;

/** Commands that keep a store safe. */
export const maintenanceCommands: readonly Command[] = [
  command({
    name: "backup",
    summary: "Writes the whole store to a new file, also while the service runs.",
    topic: "maintenance",
    examples: ["petstore backup /var/backups/petstore/monday.petstore"],
    operands: [{ name: "FILE", description: "File to create. - writes to standard output." }],
    flags: { json },
    settings: storeSettings,
    run: withExistingStore(backup),
  }),
  command({
    name: "restore",
    summary: "Verifies a backup and makes it the store. Never replaces a store.",
    topic: "maintenance",
    examples: [
      "petstore restore monday.petstore",
      "petstore restore monday.petstore --database postgres://localhost/petstore",
    ],
    changes: true,
    operands: backupFile,
    flags: {
      json,
      scratch: scratchOf("Folder for the trial of PostgreSQL. Default: that of FILE."),
    },
    settings: storeSettings,
    run: restore,
  }),
  command({
    name: "drill",
    summary: "Restores a backup to a scratch folder, verifies it and removes it again.",
    topic: "maintenance",
    examples: ["petstore drill monday.petstore --json"],
    operands: backupFile,
    flags: { json, scratch: scratchOf("Folder to use. Default: that of FILE.") },
    settings: storeSettings,
    run: drill,
  }),
  command({
    name: "upgrade",
    summary: "Says what a start would migrate, and tries it on a copy.",
    topic: "maintenance",
    examples: ["petstore upgrade --check"],
    operands: [],
    flags: {
      check: { description: "Required: only a start of the service migrates a store." },
      json,
    },
    settings: storeSettings,
    run: upgrade,
  }),
  command({
    name: "doctor",
    summary: "Checks the settings, the store and the machine, and says what to do.",
    topic: "maintenance",
    examples: ["petstore doctor", "petstore doctor --env staging --json"],
    operands: [],
    flags: { json },
    settings: Object.keys(settings) as SettingName[],
    run: doctor,
  }),
];
