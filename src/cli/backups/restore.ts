import { dirname, resolve } from "node:path";
import type { Manifest } from "../../backup/manifest.ts";
import { type Config, readConfig } from "../../config.ts";
import { systemClock } from "../../engines.ts";
import { print, printError, printNote, printWarning } from "../../output.ts";
import { sqlitePath } from "../../store-file.ts";
import { command, json } from "../command.ts";
import { counted, elapsedText } from "../paragraphs.ts";
import { readMoment } from "../snapshot.ts";
import { type BackupAt, openAt, openLater, reachText } from "./moment.ts";
import { restoreToDatabase } from "./restore-database.ts";
import { restoreToFile } from "./restore-file.ts";
import { backupFile } from "./scratch.ts";

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
    "petstore restore monday.petstore --until 2026-11-16T09:30:00Z --ledger sqlite:broken/production.db",
  ],
  changes: true,
  operands: backupFile,
  flags: {
    json,
    until: {
      placeholder: "MOMENT",
      description:
        "Restore the stock as of this moment: the number of a ledger row, or a time such as 2026-11-16T09:30:00Z. Default: the last one.",
    },
    ledger: {
      placeholder: "SOURCE",
      description:
        "A later ledger that continues that of the backup: another backup, or a store that can still be read, as sqlite:PATH or postgres://HOST/NAME.",
    },
    "dry-run": { description: "Show which moments can be reached, and restore nothing." },
    scratch: {
      placeholder: "FOLDER",
      description:
        "Folder in which the backup is verified first. PostgreSQL only. Default: the folder of FILE.",
    },
  },
  async run({ flags, operands: [file], settings }) {
    const config = readConfig(settings);
    const startedMs = performance.now();
    await using opened = new AsyncDisposableStack();
    const found = await openMoment(file, config, { ...settings, ...flags }, opened);
    if (found) printReach(found, flags);
    if (flags["dry-run"]) return 0;
    const path = sqlitePath(config);
    const name = found?.name ?? file;
    const manifest =
      path === undefined
        ? await restoreToDatabase(name, config, flags.scratch ?? dirname(resolve(file)), found)
        : await restoreToFile(name, config, path, found);
    if (!manifest) {
      printError("the restored database has faults; do not serve it");
      return 1;
    }
    const durationMs = Math.round(performance.now() - startedMs);
    const { at, version, engine, seq, hash, rows } = manifest;
    const lost = found && lostIn(found);
    if (flags.json) {
      const result = { file, path, at, version, engine, seq, hash, rows, durationMs, ...lost };
      print(JSON.stringify(result));
    } else printSummary(name, path, manifest, durationMs, found);
    return 0;
  },
});

/** Opens the backup as of the moment that the flags name. Undefined if they name none. */
async function openMoment(
  file: string,
  config: Config,
  flags: Readonly<Record<string, unknown>> & { readonly until?: string; readonly ledger?: string },
  opened: AsyncDisposableStack,
): Promise<BackupAt | undefined> {
  const { until, ledger } = flags;
  if (until === undefined && ledger === undefined && !flags["dry-run"]) return undefined;
  const moment = until === undefined ? undefined : readMoment("--until", until);
  const openLedger =
    ledger === undefined ? undefined : await openLater(ledger, config, flags, opened);
  return openAt(file, config, moment, openLedger);
}

function printReach({ name, reach }: BackupAt, flags: { json: boolean; "dry-run": boolean }): void {
  const { firstAt, last, knownAt, problem, until } = reach;
  const text = reachText(name, reach);
  if (!flags["dry-run"]) printNote(text);
  else if (flags.json) {
    const [first, known] = [firstAt ?? null, knownAt].map((at) => at && new Date(at).toISOString());
    print(
      JSON.stringify({
        from: first,
        to: known,
        seq: last.seq,
        hash: last.hash,
        problem,
        until: until.seq,
      }),
    );
  } else print(`${text}.`);
  if (!reach.isInsideRequest) return;
  printWarning(`row ${until.seq} is not the last row of its request, which is restored in part`);
}

function lostIn({ undescribed: { pets, keys } }: BackupAt) {
  return { petsWithoutName: pets.map(String), keysLost: [...keys] };
}

function printSummary(
  file: string,
  path: string | undefined,
  manifest: Manifest,
  ms: number,
  moment: BackupAt | undefined,
): void {
  const { at, seq, hash, rows, environment } = manifest;
  const age = elapsedText(Math.max(0, systemClock.now() - Date.parse(at)));
  const content = `${counted(rows.pets!, "pet")}, ${counted(rows.ledger!, "ledger row")} and ${counted(rows.keys!, "key")}`;
  print(`Restored and verified ${content} from ${file} in ${elapsedText(ms)}.`);
  print(`They are in ${path ?? "the database"}. The ledger ends at ${seq}:${hash}`);
  if (moment) printMoment(moment, at);
  else print(`The backup is from ${at}, ${age} ago. Later updates are not in it.`);
  // The address may have a password. Without one, `serve` would create a new SQLite file.
  const database = path === undefined ? "ADDRESS, with the same address" : `sqlite:${path}`;
  print(`Next: petstore serve --env ${environment} --database ${database}`);
  if (rows.webhooks) print("Tell the receivers of webhooks: they may have got later updates.");
}

/** What is of the moment, what is of the backup, and what is of neither. */
function printMoment({ backupAt, undescribed: { pets, keys } }: BackupAt, at: string): void {
  print(`The stock is that of ${at}. Names, keys, orders and webhooks are those of ${backupAt}.`);
  if (pets.length > 0) {
    const ids = `${pets.slice(0, 10).join(", ")}${pets.length > 10 ? ", …" : ""}`;
    print(`Nothing says what was known of ${counted(pets.length, "pet")} but the stock: ${ids}`);
  }
  if (keys.size > 0)
    print(`These keys are not in the backup and were revoked: ${[...keys].join(", ")}`);
}
