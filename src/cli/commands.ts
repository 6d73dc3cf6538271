import { defaultOverlapMs } from "../domain/key-lifecycle.ts";
import { defaultScopes, scopes } from "../domain/keys.ts";
import { planNames, plans } from "../domain/plans.ts";
import { type SettingName, settings } from "../settings.ts";
import { type Command, command } from "./command.ts";
import { exportPets } from "./export.ts";
import { formats } from "./files.ts";
import { importOrders, importPets } from "./import.ts";
import { createKey, listKeys, revoke, rotate, showKey, unban } from "./keys.ts";
import { historyRowsDefault, printHistory, printLedger } from "./ledger.ts";
import { migrateStore } from "./migrate.ts";
import { quickstart, serve } from "./serve.ts";
import { printDiff, printSnapshot } from "./snapshot.ts";
import { undo } from "./undo.ts";
import { verifyStore } from "./verify.ts";
import { withExistingStore, withStore } from "./with-store.ts";

const allSettings = Object.keys(settings) as SettingName[];
const storeSettings: readonly SettingName[] = ["environment", "databaseUrl"];
const customPlans = planNames.filter((plan) => plans[plan] === null).join(" or ");

const json = { description: "Print the result as JSON." } as const;
const jsonLines = { description: "Print one JSON object per line." } as const;
const format = {
  placeholder: formats.join("|"),
  description: "Format of the file. Default: the extension of its name, or ndjson for -.",
} as const;
const id = [{ name: "ID", description: "Id of the key, such as key_0aB…" }] as const;
const moment = "Number of a ledger row, or a time such as 2026-11-15T10:00:00Z.";
const inputFile = [{ name: "FILE", description: "File to read. - reads standard input." }] as const;
const outputFile = [
  { name: "FILE", description: "File to write. - writes to standard output." },
] as const;

/**
 * Every command. Dispatch, the checks of flags and operands, help and the table in docs/operating.md
 * are derived from this list. Every command migrates an old store. A missing SQLite file is created,
 * except by commands that need content.
 */
export const commands: readonly Command[] = [
  command({
    name: "serve",
    summary: "Serves one environment.",
    operands: [],
    flags: {},
    settings: allSettings,
    run: serve,
  }),
  command({
    name: "quickstart",
    summary: "Same as `serve`, but adds sample data and a key to an empty store.",
    operands: [],
    flags: {},
    settings: allSettings,
    run: quickstart,
  }),
  command({
    name: "keys create",
    summary: "Creates an API key and prints it once.",
    operands: [],
    flags: {
      name: {
        placeholder: "NAME",
        required: true,
        description: "Name of the key, for operators.",
      },
      plan: {
        placeholder: planNames.join("|"),
        required: true,
        description: "Plan of the key. It sets the limits.",
      },
      "per-minute": {
        placeholder: "N",
        field: "perMinute",
        description: `Requests per minute, only for the plan ${customPlans}.`,
      },
      "per-day": {
        placeholder: "N",
        field: "perDay",
        description: `Requests per day, only for the plan ${customPlans}.`,
      },
      scopes: {
        placeholder: "SCOPES",
        description: `Scopes of the key, separated by commas: ${scopes.join(", ")}. Default: ${defaultScopes.join(",")}.`,
      },
      expires: {
        placeholder: "TIME",
        field: "expiresAt",
        description: "Time at which the key expires, such as 2027-01-31T00:00:00Z.",
      },
      json,
    },
    settings: storeSettings,
    run: withStore(createKey),
  }),
  command({
    name: "keys list",
    summary: "Lists all keys.",
    operands: [],
    flags: { json },
    settings: storeSettings,
    run: withStore(listKeys),
  }),
  command({
    name: "keys show",
    summary: "Shows one key, its limits, last use and ban.",
    operands: id,
    flags: { json },
    settings: storeSettings,
    run: withStore(showKey),
  }),
  command({
    name: "keys rotate",
    summary: "Gives a key a new secret. The old secret stays valid for the overlap.",
    operands: id,
    flags: {
      overlap: {
        placeholder: "DURATION",
        description: `How long the old secret stays valid, such as 30m, 24h or 7d. Default: ${defaultOverlapMs / 3_600_000}h.`,
      },
      json,
    },
    settings: storeSettings,
    run: withStore(rotate),
  }),
  command({
    name: "keys revoke",
    summary: "Revokes a key.",
    operands: id,
    flags: { json },
    settings: storeSettings,
    run: withStore(revoke),
  }),
  command({
    name: "keys unban",
    summary: "Ends a ban and clears the strikes.",
    operands: id,
    flags: { json },
    settings: storeSettings,
    run: withStore(unban),
  }),
  command({
    name: "pets import",
    summary: "Adds and updates pets and their stock.",
    operands: inputFile,
    flags: { format, json },
    settings: storeSettings,
    run: withStore(importPets),
  }),
  command({
    name: "pets export",
    summary: "Writes all pets and their stock to a file.",
    operands: outputFile,
    flags: { format },
    settings: storeSettings,
    run: withStore(exportPets),
  }),
  command({
    name: "orders import",
    summary: "Adds and updates orders.",
    operands: inputFile,
    flags: { format, json },
    settings: storeSettings,
    run: withStore(importOrders),
  }),
  command({
    name: "history",
    summary: "Shows the changes of one pet, the newest first.",
    operands: [{ name: "PET", description: "Id of the pet." }],
    flags: {
      limit: {
        placeholder: "N",
        description: `Maximum number of changes. Default: ${historyRowsDefault}.`,
      },
      before: { placeholder: "SEQ", description: "Only changes before this ledger row." },
      json: jsonLines,
    },
    settings: storeSettings,
    run: withExistingStore(printHistory),
  }),
  command({
    name: "ledger",
    summary: "Shows all changes, the oldest first.",
    operands: [],
    flags: {
      after: { placeholder: "SEQ", description: "Only changes after this ledger row. Default: 0." },
      follow: { description: "Keep running, and show new changes as they are stored." },
      json: jsonLines,
    },
    settings: storeSettings,
    run: withExistingStore(printLedger),
  }),
  command({
    name: "snapshot",
    summary: "Shows the whole inventory as of a moment.",
    operands: [{ name: "MOMENT", description: moment }],
    flags: { json: jsonLines },
    settings: storeSettings,
    run: withExistingStore(printSnapshot),
  }),
  command({
    name: "diff",
    summary: "Shows the pets whose stock differs between two moments.",
    operands: [
      { name: "FROM", description: moment },
      { name: "TO", description: "Another moment. It may be earlier than FROM." },
    ],
    flags: { json: jsonLines },
    settings: storeSettings,
    run: withExistingStore(printDiff),
  }),
  command({
    name: "undo",
    summary: "Gives a pet the stock that it had before a ledger row, as a new row.",
    operands: [{ name: "SEQ", description: "Number of the ledger row." }],
    flags: {
      force: { description: "Undo the row also if the pet was changed since." },
      reason: { placeholder: "TEXT", description: "Reason of the new row. Default: undo of SEQ." },
      json,
    },
    settings: storeSettings,
    run: withExistingStore(undo),
  }),
  command({
    name: "verify",
    summary: "Checks the whole store.",
    operands: [],
    flags: {
      expect: {
        placeholder: "SEQ:HASH",
        description: "Also check that row SEQ has this hash, as an earlier run printed it.",
      },
      json,
    },
    settings: storeSettings,
    run: withStore(verifyStore),
  }),
  command({
    name: "migrate-store",
    summary: "Copies a store to an empty database.",
    operands: [],
    flags: {
      from: {
        placeholder: "DATABASE",
        required: true,
        description: "Database to copy: sqlite:PATH or postgres://HOST/NAME.",
      },
      to: {
        placeholder: "DATABASE",
        required: true,
        description: "Empty database to copy to: sqlite:PATH or postgres://HOST/NAME.",
      },
    },
    settings: ["environment"],
    run: migrateStore,
  }),
];
