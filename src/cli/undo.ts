import { type UndoOutcome, undoRow, undoStore } from "../domain/history/undo.ts";
import type { Stock } from "../domain/ledger/inventory.ts";
import { ledgerRowJson, type NamedRow } from "../domain/ledger/ledger.ts";
import { print, printError } from "../output.ts";
import { json } from "./command.ts";
import { parseInteger } from "./flags.ts";
import { storeCommand } from "./store-command.ts";

/** Returns exit code 1 if the row cannot be undone. */
export const undoCommand = storeCommand({
  name: "undo",
  summary: "Undoes a change: a new ledger row gives the pet its earlier stock.",
  examples: ["petstore undo 1200", "petstore undo 1200 --force --reason recounted"],
  operands: [{ name: "SEQ", description: "Number of the ledger row." }],
  flags: {
    force: { description: "Undo the row even if the pet was changed since." },
    reason: { placeholder: "TEXT", description: "Reason for the new row. Default: undo of SEQ." },
    json,
  },
  changes: true,
  async run({ flags, operands: [text], store }) {
    const seq = parseInteger("SEQ", text, 1);
    const outcome = await undoRow(undoStore(store), seq, {
      force: flags.force,
      reason: flags.reason || undefined,
    });
    if (outcome.kind !== "undone") {
      printError(refusal(seq, outcome));
      return 1;
    }
    const { row } = outcome;
    print(flags.json ? ledgerRowJson(row) : summary(row));
    return 0;
  },
});

function summary({ seq, petId, before, after }: NamedRow): string {
  return `Pet ${petId}: ${stockText(before)} → ${stockText(after)} (row ${seq}).`;
}

function stockText(stock: Stock | null): string {
  return stock ? `${stock.quantity} ${stock.status}` : "nothing";
}

function refusal(seq: number, outcome: Exclude<UndoOutcome, { kind: "undone" }>): string {
  if (outcome.kind === "creates_entry") {
    return `row ${seq} cannot be undone, because it created pet ${outcome.petId}`;
  }
  if (outcome.kind === "removes_entry") {
    return `row ${seq} cannot be undone, because it removed pet ${outcome.petId}; import the pet again`;
  }
  const { latest } = outcome;
  const change = `${author(latest)} changed it at ${new Date(latest.at).toISOString()}`;
  return `pet ${latest.petId} is no longer as row ${seq} left it: ${change} (row ${latest.seq}); --force overwrites that`;
}

/** Who caused a row, for a sentence. */
function author({ cause, keyName, keyId }: NamedRow): string {
  if (cause === "import") return "an import";
  if (cause === "undo") return "an undo";
  return `key ${keyName ?? keyId ?? "unknown"}`;
}
