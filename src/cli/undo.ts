import { newCommand } from "../domain/audit/audit.ts";
import { type Undone, undoneJson, undoTogether } from "../domain/catalogue/undo-together.ts";
import { type UndoOutcome, undoRow, undoStore } from "../domain/history/undo.ts";
import type { Stock } from "../domain/ledger/inventory.ts";
import { type Cause, causes, ledgerRowJson, type NamedRow } from "../domain/ledger/ledger.ts";
import { InvalidField, invalidRequest } from "../domain/running/errors.ts";
import type { Store } from "../domain/store.ts";
import { exactInteger } from "../domain/values/json.ts";
import { print, printError } from "../output.ts";
import { type FlagValues, json } from "./command.ts";
import { parseInteger, parseOptional, parsePetId, parseTime } from "./flags.ts";
import { counted } from "./paragraphs.ts";
import { storeCommand } from "./store-command.ts";

const undoFlags = {
  request: {
    placeholder: "ID",
    description: "Undo all changes of this request, such as a batch or an import.",
  },
  session: { placeholder: "ID", description: "Undo the changes of this session of an assistant." },
  pet: { placeholder: "ID", description: "Undo the changes of this pet." },
  key: { placeholder: "ID", description: "Undo the changes of this key." },
  from: { placeholder: "TIME", description: "Undo changes at this time or later." },
  to: { placeholder: "TIME", description: "Undo changes before this time." },
  cause: { placeholder: "CAUSE", description: `Undo changes of this cause: ${causes.join(", ")}.` },
  "dry-run": { description: "Show what would be undone, and change nothing." },
  "as-of": {
    placeholder: "SEQ",
    description: "The asOf of a dry run. Undo nothing that was stored later.",
  },
  force: {
    description:
      "Undo also where the pet was changed since. SEQ overwrites those changes, the other ways keep them.",
  },
  reason: { placeholder: "TEXT", description: "Reason for the new rows. Default: undo of SEQ." },
  json,
} as const;

type Refusal = Exclude<UndoOutcome, { kind: "undone" | "possible" }>;

/** Returns exit code 1 if nothing can be undone. */
export const undoCommand = storeCommand({
  name: "undo",
  summary:
    "Undoes a change, a request, a session or changes of a key: new ledger rows take them back.",
  examples: [
    "petstore undo 1200 --force --reason recounted",
    "petstore undo --request req_5f0c1e9a2b7d_42 --dry-run",
  ],
  operands: [{ name: "SEQ", isOptional: true, description: "Number of one ledger row." }],
  flags: undoFlags,
  changes: true,
  async run({ flags, operands: [text], store }) {
    const { force } = flags;
    const { request, session, pet, key, from, to, cause } = flags;
    const filters = [request, session, pet, key, from, to, cause];
    const isTogether = filters.some((one) => one !== undefined);
    if (text === "" ? !isTogether : isTogether || flags["as-of"] !== undefined) {
      const rule =
        "give either SEQ, or one of --request, --session, --pet, --key, --from, --to and --cause";
      throw invalidRequest(`${rule}; see petstore help undo`);
    }
    const reason = flags.reason || undefined;
    if (isTogether) return runTogether(store, flags, reason);
    const seq = parseInteger("SEQ", text, 1);
    const isDryRun = flags["dry-run"];
    const outcome = await undoRow(undoStore(store), seq, { force, reason, isDryRun });
    if (outcome.kind === "possible") {
      const { petId, before, after } = outcome;
      const json = JSON.stringify({ petId: exactInteger(petId), before, after });
      print(flags.json ? json : `${summary(outcome)}.`);
    } else if (outcome.kind === "undone") {
      const { row } = outcome;
      print(flags.json ? ledgerRowJson(row) : `${summary(row)} (row ${row.seq}).`);
    } else {
      printError(refusal(seq, outcome));
      return 1;
    }
    return 0;
  },
});

async function runTogether(
  store: Store,
  flags: FlagValues<typeof undoFlags>,
  reason: string | undefined,
): Promise<number> {
  const { "dry-run": isDryRun, "as-of": asOf, force } = flags;
  const undone = await undoTogether(
    store,
    {
      requestId: flags.request,
      session: flags.session,
      keyId: flags.key,
      cause: readCause(flags.cause),
      petId: flags.pet === undefined ? undefined : parsePetId("--pet", flags.pet),
      from: readTime("from", flags.from),
      to: readTime("to", flags.to),
    },
    {
      ...{ isDryRun, force, reason, actor: newCommand() },
      asOf: parseOptional("--as-of", asOf, 0),
    },
  );
  if (flags.json) print(undoneJson(undone));
  else printUndone(undone, isDryRun, force);
  return undone.undone === 0 ? 1 : 0;
}

function readCause(text: string | undefined): Cause | undefined {
  const found = causes.find((cause) => cause === text);
  if (found === text) return found;
  throw new InvalidField("cause", `must be one of ${causes.join(", ")}`);
}

function readTime(flag: string, text: string | undefined): number | undefined {
  const time = parseTime(text);
  if (!Number.isNaN(time)) return time;
  throw new InvalidField(flag, "must be a time such as 2026-11-15T10:00:00Z");
}

function printUndone(found: Undone, isDryRun: boolean, force: boolean): void {
  const { rows, undone, changed, leftOut, pets } = found;
  const result = `${counted(undone, "pet")} ${isDryRun ? "would be undone" : "undone"}`;
  const others = `${counted(changed, "pet")} changed since, ${leftOut} left out`;
  print(`${counted(rows, "change")} found, ${result}, ${others}.`);
  for (const { petId, before, after, why } of pets) {
    // Without --force, a pet that was changed since stays as it is.
    const undoneTo = after && (force || !why) ? ` → ${stockText(after)}` : "";
    print(`Pet ${petId}: ${stockText(before)}${undoneTo}${why ? ` (${why})` : ""}`);
  }
}

function summary({ petId, before, after }: Pick<NamedRow, "petId" | "before" | "after">): string {
  return `Pet ${petId}: ${stockText(before)} → ${stockText(after)}`;
}

function stockText(stock: Stock | null): string {
  return stock ? `${stock.quantity} ${stock.status}` : "nothing";
}

function refusal(seq: number, outcome: Refusal): string {
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
