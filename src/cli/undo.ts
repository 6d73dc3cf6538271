import { type UndoOutcome, undoRow, undoStore } from "../domain/history/undo.ts";
import {
  type Mark,
  marks,
  petsUndoneMax,
  type Selection,
  type TogetherOutcome,
  undoTogether,
} from "../domain/history/undo-together.ts";
import { formatCursor, parseCursor } from "../domain/ledger/cursors.ts";
import type { Position } from "../domain/ledger/epochs.ts";
import type { Stock } from "../domain/ledger/inventory.ts";
import { causes, ledgerRowJson, type NamedRow, stockJson } from "../domain/ledger/ledger.ts";
import { InvalidField, ServiceError } from "../domain/running/errors.ts";
import { parseInt64 } from "../domain/values/int64.ts";
import { systemClock } from "../engines.ts";
import { print, printError } from "../output.ts";
import { json } from "./command.ts";
import { parseInteger, parseTime } from "./flags.ts";
import { actorOf } from "./imports/attribution.ts";
import { counted } from "./paragraphs.ts";
import { storeCommand } from "./store-command.ts";

/** The service gives the last three flags when it undoes changes for an operator. */
const undoFlags = {
  request: {
    placeholder: "ID",
    description: "Undo all changes of this request: a batch, a delivery, a count or an import.",
  },
  key: {
    placeholder: "ID",
    description: "Undo the changes that this key made. Needs --from and --to.",
  },
  from: { placeholder: "TIME", description: "Only with --key: changes at this time or later." },
  to: { placeholder: "TIME", description: "Only with --key: changes before this time." },
  pet: { placeholder: "PET", description: "Only with --key: changes of this pet." },
  cause: {
    placeholder: "CAUSE",
    description: `Only with --key: changes with this cause, one of ${causes.join(", ")}.`,
  },
  "dry-run": { description: "Show what would be undone, and change nothing." },
  force: {
    description:
      "Also undo pets that were changed since. SEQ sets the earlier stock; --request and --key take back only what they changed.",
  },
  reason: { placeholder: "TEXT", description: "Reason for the new rows. Default: undo of SEQ." },
  json,
  as: {
    placeholder: "KEY",
    description: "Id of the operator key to record the undo for. Default: none.",
  },
  "request-id": {
    placeholder: "ID",
    field: "requestId",
    description: "Id of the request to record the undo for. Only with --as.",
  },
  "as-of": {
    placeholder: "CURSOR",
    description: "The `asOf` of a dry run. Refuses the undo if a pet was changed after it.",
  },
} as const;

/** Returns exit code 1 if nothing can be undone. */
export const undoCommand = storeCommand({
  name: "undo",
  summary:
    "Undoes a change, a request, or what a key changed in a period: new ledger rows take the changes back.",
  examples: [
    "petstore undo 1200 --force --reason recounted",
    "petstore undo --request req_5f0c1e9a2b7d_42 --dry-run",
    "petstore undo --key key_tKhW2 --from 2026-11-15T10:00:00Z --to 2026-11-15T11:00:00Z",
  ],
  operands: [{ name: "SEQ", isOptional: true, description: "Number of the ledger row." }],
  flags: undoFlags,
  changes: true,
  async run({ flags, operands: [text], store }) {
    const selection = readSelection(text, flags);
    const options = { isDryRun: flags["dry-run"], reason: flags.reason || undefined };
    if (selection === undefined) {
      const seq = parseInteger("SEQ", text, 1);
      const outcome = await undoRow(undoStore(store), seq, { ...options, force: flags.force });
      return printUndone(seq, outcome, flags.json);
    }
    const outcome = await undoTogether(undoStore(store), selection, {
      ...options,
      includesChanged: flags.force,
      asOf: readPosition(flags["as-of"]),
      actor: await actorOf(store.keys, flags, systemClock.now()),
    });
    if (flags.json) print(togetherJson(outcome));
    return printTogether(outcome, flags.json);
  },
});

type SelectionFlags = Readonly<
  Record<"request" | "key" | "from" | "to" | "pet" | "cause", string | undefined>
>;

/** Undefined if one row is undone. */
function readSelection(seq: string, flags: SelectionFlags): Selection | undefined {
  const { request, key, from, to, pet, cause } = flags;
  const ways = [seq || undefined, request, key].filter((way) => way !== undefined);
  if (ways.length !== 1) throw wrongUse("give either SEQ, --request or --key");
  const given = [from, to, pet, cause].some((flag) => flag !== undefined);
  if (key === undefined) {
    if (given) throw wrongUse("--from, --to, --pet and --cause need --key");
    return request === undefined ? undefined : { requestId: request };
  }
  const petId = pet === undefined ? undefined : parseInt64(pet);
  if (pet !== undefined && petId === undefined)
    throw new InvalidField("pet", "must be the id of a pet");
  const known = causes.find((one) => one === cause);
  if (cause !== undefined && !known)
    throw new InvalidField("cause", `must be one of ${causes.join(", ")}`);
  return { keyId: key, from: readTime("from", from), to: readTime("to", to), petId, cause: known };
}

function wrongUse(problem: string): ServiceError {
  return new ServiceError("invalid_request", `${problem}; see petstore help undo`);
}

function readTime(flag: "from" | "to", text: string | undefined): number {
  const time = parseTime(text);
  if (time !== undefined && !Number.isNaN(time)) return time;
  throw new InvalidField(flag, "must be a time such as 2026-11-15T10:00:00Z");
}

function readPosition(text: string | undefined): Position | undefined {
  if (text === undefined) return undefined;
  const { epoch, seq } = parseCursor(text) ?? {};
  if (epoch === undefined || seq === undefined)
    throw new InvalidField("as-of", "must be the asOf of a dry run");
  return { epoch, seq };
}

function printUndone(seq: number, outcome: UndoOutcome, asJson: boolean): number {
  if (outcome.kind === "previewed") {
    const { petId, from, to } = outcome;
    const text = `{"petId":${petId},"from":${stockJson(from)},"to":${stockJson(to)}}`;
    print(asJson ? text : `Pet ${petId} would change: ${stockText(from)} → ${stockText(to)}.`);
    return 0;
  }
  if (outcome.kind !== "undone") {
    printError(refusal(seq, outcome));
    return 1;
  }
  const { row } = outcome;
  print(asJson ? ledgerRowJson(row) : summary(row));
  return 0;
}

function summary({ seq, petId, before, after }: NamedRow): string {
  return `Pet ${petId}: ${stockText(before)} → ${stockText(after)} (row ${seq}).`;
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

/** The operator API responds with the same text. Written by hand, because ids have 64 bits. */
function togetherJson(outcome: TogetherOutcome): string {
  if (outcome.kind !== "previewed" && outcome.kind !== "undone") return JSON.stringify(outcome);
  const { kind, asOf, rows, undone, counts, pets } = outcome;
  const listed = pets.map(
    ({ petId, mark, from, to }) =>
      `{"petId":${petId},"mark":"${mark}","from":${stockJson(from)},"to":${stockJson(to)}}`,
  );
  const facts = JSON.stringify({ kind, asOf: formatCursor(asOf), rows, undone, counts });
  return `${facts.slice(0, -1)},"pets":[${listed.join()}]}`;
}

/** What becomes of the pets with each mark. */
const markTexts: Readonly<Record<Mark, string>> = {
  unchanged: "not changed since: back to the earlier stock",
  changed: "changed since: left out, unless --force is given",
  negative: "left out: too little stock to take the changes back",
  undone: "left out: an undo has changed them since",
  created: "left out: added by these changes; remove the pets instead",
  removed: "left out: removed since; create the pets again instead",
  same: "left out: these changes left the stock as it was",
};

function printTogether(outcome: TogetherOutcome, asJson: boolean): number {
  if (outcome.kind === "not_found") printError("no change was found; nothing was undone");
  else if (outcome.kind === "changed_since") {
    printError("a pet was changed in the meantime; nothing was undone, so try again");
  } else if (outcome.kind === "too_many") {
    const count = petsUndoneMax.toLocaleString("en");
    const way = `petstore snapshot ${outcome.before} --json | petstore pets import - --format ndjson`;
    printError(`more than ${count} pets; to give all pets their earlier stock, run ${way}`);
  } else {
    const { kind, rows, undone, counts, pets } = outcome;
    if (asJson) return kind === "undone" && undone === 0 ? 1 : 0;
    const verb = kind === "undone" ? "Undone" : "Would be undone";
    print(`${counted(rows, "change")} found. ${verb}: ${counted(undone, "pet")}.`);
    for (const mark of marks) {
      if (counts[mark] > 0) print(`  ${counted(counts[mark], "pet")} ${markTexts[mark]}`);
    }
    if (kind === "previewed") {
      for (const { petId, mark, from, to } of pets) {
        print(`Pet ${petId} (${mark}): ${stockText(from)} → ${to ? stockText(to) : "stays"}`);
      }
      return 0;
    }
    if (undone > 0) return 0;
    printError("nothing was undone");
  }
  return 1;
}
