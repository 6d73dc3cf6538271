import type { Manifest } from "../../backup/manifest.ts";
import { readConfig } from "../../config.ts";
import { systemClock } from "../../engines.ts";
import { print, printError } from "../../output.ts";
import { sqlitePath } from "../../store-file.ts";
import { command, json } from "../command.ts";
import { counted, elapsedText } from "../paragraphs.ts";
import { restoreToDatabase } from "./restore-database.ts";
import { restoreToFile } from "./restore-file.ts";
import { backupFile, backupSettings, scratchParentOf } from "./scratch.ts";

/**
 * Restores a backup to a place where there is no store. The backup is first restored to a scratch
 * store and verified there, so a bad backup changes nothing.
 */
export const restoreCommand = command({
  name: "restore",
  summary: "Verifies a backup and makes it the store. Never replaces an existing store.",
  examples: [
    "petstore restore monday.petstore",
    "petstore restore monday.petstore --database postgres://localhost/petstore",
  ],
  changes: true,
  operands: backupFile,
  flags: {
    json,
    scratch: {
      placeholder: "FOLDER",
      description:
        "Folder in which the backup is verified first. PostgreSQL only. Default: the folder of FILE, for a bucket the current one.",
    },
  },
  settings: backupSettings,
  async run({ flags, operands: [file], settings }) {
    const config = readConfig(settings);
    const startedMs = performance.now();
    const path = sqlitePath(config);
    const manifest =
      path === undefined
        ? await restoreToDatabase(file, config, flags.scratch ?? scratchParentOf(file))
        : await restoreToFile(file, config, path);
    if (!manifest) {
      printError("the restored database has faults; do not serve it");
      return 1;
    }
    const durationMs = Math.round(performance.now() - startedMs);
    const { at, version, engine, seq, hash, rows } = manifest;
    if (flags.json) {
      print(JSON.stringify({ file, path, at, version, engine, seq, hash, rows, durationMs }));
    } else printSummary(file, path, manifest, durationMs);
    return 0;
  },
});

function printSummary(
  file: string,
  path: string | undefined,
  manifest: Manifest,
  ms: number,
): void {
  const { at, seq, hash, rows, environment } = manifest;
  const age = elapsedText(Math.max(0, systemClock.now() - Date.parse(at)));
  const content = `${counted(rows.pets!, "pet")}, ${counted(rows.ledger!, "ledger row")} and ${counted(rows.keys!, "key")}`;
  print(`Restored and verified ${content} from ${file} in ${elapsedText(ms)}.`);
  print(`They are in ${path ?? "the database"}. The ledger ends at ${seq}:${hash}`);
  print(`The backup is from ${at}, ${age} ago. Later updates are not in it.`);
  // The address may have a password. Without one, `serve` would create a new SQLite file.
  const database = path === undefined ? "ADDRESS, with the same address" : `sqlite:${path}`;
  print(`Next: petstore serve --env ${environment} --database ${database}`);
  if (rows.webhooks) print("Tell the receivers of webhooks: they may have got later updates.");
}
