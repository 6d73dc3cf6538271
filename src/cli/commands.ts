import { auditCommand } from "./audit.ts";
import { backupCommand } from "./backups/backup.ts";
import { drillCommand } from "./backups/drill.ts";
import { restoreCommand } from "./backups/restore.ts";
import { type Command, command, type Topic, type UnlistedCommand } from "./command.ts";
import { printCompletion, shells } from "./completion/completion.ts";
import { configCommand } from "./config.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { ordersExportCommand, petsExportCommand } from "./export.ts";
import { healthCommand } from "./health.ts";
import { ordersImportCommand, petsImportCommand } from "./imports/import.ts";
import { keyCommands } from "./keys.ts";
import { historyCommand, ledgerCommand } from "./ledger.ts";
import { migrateCommand } from "./migrate.ts";
import { requestsCommand } from "./requests.ts";
import { quickstartCommand, serveCommand } from "./serve.ts";
import { diffCommand, snapshotCommand } from "./snapshot.ts";
import { undoCommand } from "./undo.ts";
import { verifyCommand } from "./verify.ts";
import { webhookCommands } from "./webhooks.ts";

const completionCommand = command({
  name: "completion",
  summary: "Prints a script that completes commands, flags and values in a shell.",
  examples: ["petstore completion bash", "petstore completion fish"],
  operands: [{ name: shells.join("|"), description: "The shell." }],
  settings: [],
  run: ({ operands: [shell] }) => printCompletion(shell, commands),
});

const listed: readonly (readonly [topic: Topic, commands: readonly UnlistedCommand[]])[] = [
  ["serve", [serveCommand, quickstartCommand]],
  ["maintenance", [healthCommand]],
  ["keys", [...keyCommands, requestsCommand]],
  [
    "pets and orders",
    [petsImportCommand, petsExportCommand, ordersImportCommand, ordersExportCommand],
  ],
  ["webhooks", webhookCommands],
  ["history", [historyCommand, ledgerCommand, snapshotCommand, diffCommand, undoCommand]],
  ["maintenance", [auditCommand, verifyCommand, backupCommand, restoreCommand, drillCommand]],
  ["maintenance", [doctorCommand, migrateCommand]],
  ["command line", [configCommand, completionCommand]],
];

/**
 * Every command. Dispatch, the checks of flags and operands, help and the tables in docs/commands.md
 * are derived from this list. Commands that bring content create a store that is missing, and say so.
 * All others refuse to run without one.
 */
export const commands: readonly Command[] = listed.flatMap(([topic, rows]) =>
  rows.map((row) => ({ ...row, topic })),
);
