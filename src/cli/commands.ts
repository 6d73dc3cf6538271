import { type SettingName, settings } from "../settings.ts";
import { auditRowsDefault, printAudit } from "./audit.ts";
import { catalogueCommands } from "./catalogue-commands.ts";
import { type Command, command, json } from "./command.ts";
import { printCompletion, shells } from "./completion/completion.ts";
import { printConfig } from "./config.ts";
import { checkHealth } from "./health.ts";
import { keyCommands } from "./key-commands.ts";
import { historyRowsDefault, printHistory, printLedger } from "./ledger.ts";
import { maintenanceCommands } from "./maintenance-commands.ts";
import { migrateStore } from "./migrate.ts";
import { quickstart, serve } from "./serve.ts";
import { printDiff, printSnapshot } from "./snapshot.ts";
import { undo } from "./undo.ts";
import { verifyStore } from "./verify.ts";
import { webhookCommands } from "./webhook-commands.ts";
import { withExistingStore } from "./with-store.ts";

const allSettings = Object.keys(settings) as SettingName[];

const jsonLines = { description: "Print one JSON object per line." } as const;
const moment = "Number of a ledger row, or a time such as 2026-11-15T10:00:00Z.";

/**
 * Every command. Dispatch, the checks of flags and operands, help and the tables in docs/commands.md
 * are derived from this list. Every command migrates an old store. Commands that bring content create
 * a store that is missing, and say so. All others refuse to run without one.
 */
export const commands: readonly Command[] = [
  command({
    name: "serve",
    summary: "Serves the API of one environment until a signal stops it.",
    topic: "serve",
    examples: [
      "petstore serve",
      "petstore serve --port 9000 --database sqlite:/var/lib/petstore/production.db",
    ],
    flags: {},
    settings: allSettings,
    run: serve,
  }),
  command({
    name: "quickstart",
    summary: "Same as `serve`, but adds sample data and two keys to an empty store.",
    topic: "serve",
    examples: ["petstore quickstart --port 9000"],
    flags: {},
    settings: allSettings,
    run: quickstart,
  }),
  command({
    name: "health",
    summary: "Checks whether the service on this machine is ready.",
    topic: "maintenance",
    examples: ["petstore health", "petstore health --port 9000 --json"],
    flags: { json },
    settings: ["configFile", "port", "host", "tlsCertFile", "tlsKeyFile"],
    run: checkHealth,
  }),
  ...keyCommands,
  ...catalogueCommands,
  ...webhookCommands,
  command({
    name: "history",
    summary: "Shows the changes of one pet, the newest first.",
    topic: "history",
    examples: ["petstore history 42", "petstore history 42 --limit 100 --json"],
    operands: [{ name: "PET", description: "Id of the pet." }],
    flags: {
      limit: {
        placeholder: "N",
        description: `Maximum number of changes. Default: ${historyRowsDefault}.`,
      },
      before: { placeholder: "SEQ", description: "Only changes before this ledger row." },
      json: jsonLines,
    },
    run: withExistingStore(printHistory),
  }),
  command({
    name: "ledger",
    summary: "Shows all changes, the oldest first.",
    topic: "history",
    examples: ["petstore ledger --after 1200", "petstore ledger --follow --json"],
    flags: {
      after: { placeholder: "SEQ", description: "Only changes after this ledger row. Default: 0." },
      follow: { description: "Keep running, and show new changes as they are stored." },
      json: jsonLines,
    },
    run: withExistingStore(printLedger),
  }),
  command({
    name: "snapshot",
    summary: "Shows the whole inventory as of a moment.",
    topic: "history",
    examples: ["petstore snapshot 2026-11-15T10:00:00Z", "petstore snapshot 1200 --json"],
    operands: [{ name: "MOMENT", description: moment }],
    flags: { json: jsonLines },
    run: withExistingStore(printSnapshot),
  }),
  command({
    name: "diff",
    summary: "Shows the pets whose stock differs between two moments.",
    topic: "history",
    examples: ["petstore diff 2026-11-14T00:00:00Z 2026-11-15T00:00:00Z"],
    operands: [
      { name: "FROM", description: moment },
      { name: "TO", description: "The other moment. It may be earlier than FROM." },
    ],
    flags: { json: jsonLines },
    run: withExistingStore(printDiff),
  }),
  command({
    name: "undo",
    summary: "Undoes a change: a new ledger row gives the pet its earlier stock.",
    topic: "history",
    examples: ["petstore undo 1200", "petstore undo 1200 --force --reason recounted"],
    operands: [{ name: "SEQ", description: "Number of the ledger row." }],
    flags: {
      force: { description: "Undo the row even if the pet was changed since." },
      reason: { placeholder: "TEXT", description: "Reason for the new row. Default: undo of SEQ." },
      json,
    },
    changes: true,
    run: withExistingStore(undo),
  }),
  command({
    name: "audit",
    summary: "Shows the audit log, the newest first: who changed keys, webhooks, pets and orders.",
    topic: "maintenance",
    examples: ["petstore audit", "petstore audit --limit 100 --json"],
    flags: {
      limit: {
        placeholder: "N",
        description: `Maximum number of rows. Default: ${auditRowsDefault}.`,
      },
      json: jsonLines,
    },
    run: withExistingStore(printAudit),
  }),
  command({
    name: "verify",
    summary: "Checks the whole store: ledger, hashes, inventory, keys and webhooks.",
    topic: "maintenance",
    examples: ["petstore verify", "petstore verify --expect 1200:HASH"],
    flags: {
      expect: {
        placeholder: "SEQ:HASH",
        description: "Also check that row SEQ has this hash, as an earlier run printed it.",
      },
      json,
    },
    run: withExistingStore(verifyStore),
  }),
  ...maintenanceCommands,
  command({
    name: "migrate-store",
    summary: "Copies a store to an empty database.",
    topic: "maintenance",
    examples: [
      "petstore migrate-store --from sqlite:./data/production.db --to postgres://db.example/petstore",
    ],
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
      json,
    },
    changes: true,
    settings: ["configFile", "environment"],
    run: migrateStore,
  }),
  command({
    name: "config",
    summary: "Shows every setting, its value and where the value comes from.",
    topic: "command line",
    examples: ["petstore config --env staging", "petstore config --port 9000 --json"],
    flags: { json },
    settings: Object.keys(settings) as SettingName[],
    run: printConfig,
  }),
  command({
    name: "completion",
    summary: "Prints a script that completes commands, flags and values in a shell.",
    topic: "command line",
    examples: ["petstore completion bash", "petstore completion fish"],
    operands: [{ name: shells.join("|"), description: "The shell." }],
    flags: {},
    settings: [],
    run: (input) => printCompletion(input, commands),
  }),
];
