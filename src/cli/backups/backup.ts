import { invalidAddress, isBucketAddress, upload } from "../../backup/bucket.ts";
import { encrypting, readKeyFile } from "../../backup/encryption.ts";
import { fullAddress, sourceOf } from "../../backup/locate.ts";
import type { Manifest } from "../../backup/manifest.ts";
import { type Sink, writeBackup } from "../../backup/writer.ts";
import { commandLine } from "../../command-lines.ts";
import type { Config } from "../../config.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Store } from "../../domain/store.ts";
import { formatBytes } from "../../domain/values/sizes.ts";
import type { Snapshot } from "../../domain/verification/store.ts";
import { systemClock } from "../../opening/engines.ts";
import { print, printWarning } from "../../output.ts";
import { packageVersion } from "../../version.ts";
import { json } from "../command.ts";
import { writeToStdout } from "../files.ts";
import { counted, elapsedText } from "../paragraphs.ts";
import { createProgress } from "../progress.ts";
import { replaceFile } from "../replacement.ts";
import { storeCommand } from "../store-command.ts";
import { backupSettings } from "./scratch.ts";

/** Writes the whole store as of one moment to a new file. The service may run meanwhile. */
export const backupCommand = storeCommand({
  name: "backup",
  summary: "Writes the whole store to a new file. The service can run meanwhile.",
  examples: [
    "petstore backup /var/backups/petstore/monday.petstore",
    "petstore backup s3://backups/petstore/monday.petstore --backup-key-file backup.key",
  ],
  operands: [
    { name: "FILE", description: "New file or s3://…/NAME.petstore, or - for standard output." },
  ],
  flags: { json },
  changes: "record",
  settings: backupSettings,
  async run({ flags, operands: [file], config, store }) {
    await assertNew(file, config);
    const [key] = readKeyFile(config.backupKeyFile);
    const startedMs = performance.now();
    // By the clock of its rows: the moments that can be restored end there.
    const at = new Date(await store.inventory.readClock()).toISOString();
    const manifest = await store.transfer.snapshot(async (snapshot) => {
      using progress = createProgress("Backing up", await estimateRows(snapshot));
      const write = (sink: Sink) =>
        encrypting(key, sink, (encrypted) =>
          writeBackup(snapshot, originOf(config), at, encrypted, progress.advance),
        );
      if (file === "-") return await write(writeToStdout);
      if (isBucketAddress(file)) return await upload(file, config.objectAccess, write);
      return await replaceFile(file, (handle) => write((bytes) => handle.writeFile(bytes)));
    });
    const { seq, hash, rows, bytes } = manifest;
    const durationMs = Math.round(performance.now() - startedMs);
    const result = { file: fullAddress(file), at, seq, hash, bytes, durationMs };
    await record(store, JSON.stringify(result));
    if (file === "-") return 0;
    if (flags.json) print(JSON.stringify({ ...result, rows }));
    else printSummary(file, config, manifest, durationMs, key?.id);
  },
});

function originOf({ environment, databaseUrl }: Config) {
  const engine = databaseUrl.startsWith("sqlite:") ? "sqlite" : "postgresql";
  return { version: packageVersion(), environment, engine };
}

/** Never replaces a file: if the new backup were bad, none would be left. */
async function assertNew(file: string, config: Config): Promise<void> {
  if (file === "-") {
    if (!process.stdout.isTTY) return;
    throw new ServiceError("invalid_request", "a terminal cannot show a backup; redirect stdout");
  }
  // On some servers, a file with the name of a folder hides what is in the folder.
  if (isBucketAddress(file) && !file.endsWith(".petstore")) throw invalidAddress();
  if (!(await sourceOf(file, config).exists())) return;
  throw new ServiceError(
    "invalid_request",
    `${file} exists, and a backup never replaces a file; choose another name`,
  );
}

/**
 * About how many rows a backup has, for the progress. The last checkpoint knows the number of entries,
 * and every pet has one entry. A store without a checkpoint was only imported: one row for each entry.
 */
async function estimateRows(snapshot: Snapshot): Promise<number> {
  const { seq } = await snapshot.readTip();
  const checkpoint = await snapshot.findCheckpoint(seq);
  return seq + 2 * (checkpoint?.entries ?? seq);
}

/** Records the backup in the store, for metrics and for the schedule of the service. */
async function record({ maintenance }: Store, result: string): Promise<void> {
  try {
    await maintenance.endTask("backup", systemClock.now(), result);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    printWarning(`the backup is complete, but the store could not record it: ${reason}`);
  }
}

function printSummary(
  file: string,
  config: Config,
  manifest: Manifest,
  durationMs: number,
  keyId?: string,
): void {
  const { at, seq, hash, rows, bytes } = manifest;
  const content = `${counted(rows.pets!, "pet")}, ${counted(rows.ledger!, "ledger row")} and ${counted(rows.keys!, "key")}`;
  const encrypted = keyId === undefined ? "" : `, encrypted with the key ${keyId}`;
  print(
    `Backed up ${content} to ${file} (${formatBytes(bytes)}${encrypted}) in ${elapsedText(durationMs)}.`,
  );
  print(`It has every update up to ${at}. The ledger ends at ${seq}:${hash}`);
  print(`To check that it can be restored: ${commandLine(config, ["drill", file])}`);
}
