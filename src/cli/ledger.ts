import { listChanges, listHistory } from "../domain/history/history.ts";
import { jsonLines } from "./command.ts";
import { parseInteger, parseOptional, parsePetId } from "./flags.ts";
import { followLedger, untilSignal } from "./follow.ts";
import { historyListing, ledgerListing } from "./ledger-rows.ts";
import { storeCommand } from "./store-command.ts";
import { pagesOf, printRows } from "./table.ts";

const historyRowsDefault = "20";

/** Prints the changes of one pet, the newest first. */
export const historyCommand = storeCommand({
  name: "history",
  summary: "Shows the changes of one pet, the newest first.",
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
  async run({ flags, operands: [pet], store }) {
    const petId = parsePetId("PET", pet);
    const limit = parseInteger("--limit", flags.limit ?? historyRowsDefault, 1);
    const before = parseOptional("--before", flags.before, 1);
    const pages = pagesOf(
      (from, limit) => listHistory({ store }, petId, { before: from, limit }),
      before,
      limit,
    );
    await printRows(pages, historyListing, flags.json);
  },
});

/** Prints the ledger, the oldest row first. With --follow, prints new rows until it is stopped. */
export const ledgerCommand = storeCommand({
  name: "ledger",
  summary: "Shows all changes, the oldest first.",
  examples: ["petstore ledger --after 1200", "petstore ledger --follow --json"],
  flags: {
    after: { placeholder: "SEQ", description: "Only changes after this ledger row. Default: 0." },
    follow: { description: "Keep running, and show new changes as they are stored." },
    json: jsonLines,
  },
  async run({ flags, store }) {
    const after = parseInteger("--after", flags.after ?? "0", 0);
    const pages = flags.follow
      ? followLedger(store, after, untilSignal())
      : pagesOf((from, limit) => listChanges({ store }, { after: from, limit }), after);
    await printRows(pages, ledgerListing, flags.json);
  },
});
