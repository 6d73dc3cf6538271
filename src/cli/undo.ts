import { newCommand } from "../domain/audit/audit.ts";
import { type UndoOutcome, undoRow, undoStore } from "../domain/history/undo.ts";
import {
  type Mark,
  marks,
  petsUndoneMax,
  type Selection,
  togetherJson,
  type UndoneTogether,
  undoTogether,
} from "../domain/history/undo-together.ts";
import type { Stock } from "../domain/ledger/inventory.ts";
import { ledgerRowJson, type NamedRow, stockJson } from "../domain/ledger/ledger.ts";
import { InvalidField, ServiceError } from "../domain/running/errors.ts";
import { print, printError } from "../output.ts";
import { json } from "./command.ts";
import { parseInteger, parseTime } from "./flags.ts";
import { counted } from "./paragraphs.ts";
import { storeCommand } from "./store-command.ts";

/** Returns exit code 1 if nothing can be undone. */
export const undoCommand = storeCommand({
  name: "undo",
  summary: "Undoes a change, a request or the changes of a key: new ledger rows take them back.",
  examples: [
    "petstore undo 1200 --force --reason recounted",
    "petstore undo --request req_5f0c1e9a2b7d_42 --dry-run",
  ],
  operands: [{ name: "SEQ", isOptional: true, description: "Number of one ledger row." }],
  flags: {
    request: {
      placeholder: "ID",
      description: "Undo all changes of this request, such as a batch or an import.",
    },
    key: { placeholder: "ID", description: "Undo the changes of this key. Needs --from and --to." },
    from: { placeholder: "TIME", description: "With --key: changes at this time or later." },
    to: { placeholder: "TIME", description: "With --key: changes before this time." },
    "dry-run": { description: "Show what would be undone, and change nothing." },
    force: {
      description:
        "Undo also where the pet was changed since. SEQ overwrites those changes; --request and --key keep them.",
    },
    reason: { placeholder: "TEXT", description: "Reason for the new rows. Default: undo of SEQ." },
    json,
  },
  changes: true,
  async run({ flags, operands: [text], store }) {
    const selection = readSelection(text, flags);
    const options = { isDryRun: flags["dry-run"], reason: flags.reason || undefined };
    if (selection) {
      const undone = await undoTogether(undoStore(store), selection, {
        ...options,
        includesChanged: flags.force,
        petsMax: petsUndoneMax.command,
        actor: newCommand(),
      });
      if (flags.json) print(togetherJson(undone));
      else printTogether(undone);
      return undone.undone === 0 ? 1 : 0;
    }
    const seq = parseInteger("SEQ", text, 1);
    const outcome = await undoRow(undoStore(store), seq, { ...options, force: flags.force });
    if (outcome.kind === "previewed") {
      const { petId, before, after } = outcome;
      const change = `{"petId":${petId},"before":${stockJson(before)},"after":${stockJson(after)}}`;
      print(flags.json ? change : `Pet ${petId} would change: ${changeText(outcome)}.`);
      return 0;
    }
    if (outcome.kind !== "undone") {
      printError(refusal(seq, outcome));
      return 1;
    }
    const { row } = outcome;
    print(flags.json ? ledgerRowJson(row) : summary(row));
    return 0;
  },
});

type SelectionFlags = Readonly<Record<"request" | "key" | "from" | "to", string | undefined>>;

/** Undefined if one row is undone. */
function readSelection(seq: string, flags: SelectionFlags): Selection | undefined {
  const { request, key, from, to } = flags;
  const isOne = [seq || undefined, request, key].filter((way) => way !== undefined).length === 1;
  const hasTimes = from !== undefined || to !== undefined;
  if (!isOne || (key === undefined && hasTimes)) {
    const rule = "give either SEQ, or --request, or --key with --from and --to";
    throw new ServiceError("invalid_request", `${rule}; see petstore help undo`);
  }
  if (request !== undefined) return { requestId: request };
  if (key === undefined) return undefined;
  return { keyId: key, from: readTime("from", from), to: readTime("to", to) };
}

function readTime(flag: string, text: string | undefined): number {
  const time = parseTime(text) ?? Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new InvalidField(flag, "must be a time such as 2026-11-15T10:00:00Z");
}

/** The counts, and the pets of a dry run. */
function printTogether({ isDryRun, rows, undone, counts, pets }: UndoneTogether): void {
  const result = `${counted(undone, "pet")} ${isDryRun ? "would be undone" : "undone"}`;
  print(`${counted(rows, "change")} found, ${result}.`);
  for (const [mark, text] of Object.entries(marks) as [Mark, string][]) {
    if (counts[mark] > 0) print(`${counted(counts[mark], "pet")} ${mark}: ${text}.`);
  }
  for (const { petId, mark, from, to } of isDryRun ? pets : []) {
    print(
      `Pet ${petId} (${mark}): ${to ? changeText({ before: from, after: to }) : stockText(from)}`,
    );
  }
}

function summary({ seq, petId, before, after }: NamedRow): string {
  return `Pet ${petId}: ${changeText({ before, after })} (row ${seq}).`;
}

function changeText({ before, after }: Pick<NamedRow, "before" | "after">): string {
  return `${stockText(before)} → ${stockText(after)}`;
}

function stockText(stock: Stock | null): string {
  return stock ? `${stock.quantity} ${stock.status}` : "nothing";
}

function refusal(
  seq: number,
  outcome: Exclude<UndoOutcome, { kind: "undone" | "previewed" }>,
): string {
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
