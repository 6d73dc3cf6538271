import { join } from "node:path";
import type { Manifest } from "../../backup/manifest.ts";
import { commandLine } from "../../command-lines.ts";
import { type Config, readConfig } from "../../config.ts";
import { scratchStore } from "../../folders.ts";
import { systemClock } from "../../opening/engines.ts";
import { sqlitePath } from "../../opening/store-file.ts";
import { print, printError } from "../../output.ts";
import { command, json } from "../command.ts";
import { counted, elapsedText } from "../paragraphs.ts";
import { readMoment } from "../snapshot.ts";
import { restoreMoment } from "./moment.ts";
import { restoreToDatabase } from "./restore-database.ts";
import { restoreToFile } from "./restore-file.ts";
import { assertBackup, type RestoreTo, throwFor } from "./restored-store.ts";
import { backupFile, backupSettings, inScratchFolder, scratchParentOf } from "./scratch.ts";

/**
 * Restores a backup to a place where there is no store. The backup is first restored to a scratch
 * store and verified there, so a bad backup changes nothing.
 */
export const restoreCommand = command({
  name: "restore",
  summary: "Verifies a backup and makes it the store. Never replaces an existing store.",
  examples: [
    "petstore restore monday.petstore",
    "petstore restore monday.petstore --until 2026-11-16T09:30:00Z --ledger sqlite:broken.db",
  ],
  changes: true,
  operands: backupFile,
  flags: {
    json,
    until: { placeholder: "MOMENT", description: "Last ledger row or time to restore." },
    ledger: { placeholder: "SOURCE", description: "Backup or database with later ledger rows." },
    "dry-run": { description: "Show which moments can be reached, and restore nothing." },
    scratch: {
      placeholder: "FOLDER",
      description:
        "Folder in which the backup is verified, for PostgreSQL and --dry-run. Default: the folder of FILE, for a bucket the current one.",
    },
  },
  settings: backupSettings,
  async run({ flags, operands: [file], settings }) {
    const config = readConfig(settings);
    // A name with a slash in it would first look like a folder that is missing.
    await assertBackup(file, config);
    const startedMs = performance.now();
    const path = sqlitePath(config);
    const { until, scratch = scratchParentOf(file) } = flags;
    const moment = until === undefined ? undefined : readMoment("--until", until);
    const restore: RestoreTo = (to) =>
      restoreMoment(file, to, config, moment, flags).catch((error) => throwFor(to, error));
    if (flags["dry-run"]) {
      await inScratchFolder(scratch, (folder) => restore(join(folder, scratchStore)));
      return 0;
    }
    const manifest =
      path === undefined
        ? await restoreToDatabase(restore, config, scratch)
        : await restoreToFile(restore, path);
    if (!manifest) {
      printError("the restored database has faults; do not serve it");
      return 1;
    }
    const durationMs = Math.round(performance.now() - startedMs);
    const { at, version, engine, seq, hash, rows } = manifest;
    if (flags.json) {
      print(JSON.stringify({ file, path, at, version, engine, seq, hash, rows, durationMs }));
    } else printSummary(file, config, manifest, durationMs);
    return 0;
  },
});

function printSummary(file: string, config: Config, manifest: Manifest, ms: number): void {
  const { at, seq, hash, rows, environment: env } = manifest;
  const age = elapsedText(Math.max(0, systemClock.now() - Date.parse(at)));
  const content = `${counted(rows.pets!, "pet")}, ${counted(rows.ledger!, "ledger row")} and ${counted(rows.keys!, "key")}`;
  print(`Restored and verified ${content} from ${file} in ${elapsedText(ms)}.`);
  print(`They are in ${sqlitePath(config) ?? "the database"}. The ledger ends at ${seq}:${hash}`);
  print(`It has every update up to ${at}, ${age} ago, and no later ones.`);
  // Without an address, `serve` would create a new SQLite file.
  const given = { ...config.given, env, database: config.databaseUrl };
  print(`Next: ${commandLine({ given }, ["serve"])}`);
  if (rows.webhooks) print("Tell the receivers of webhooks: they may have got later updates.");
}
