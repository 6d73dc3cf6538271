import { undoRow } from "../../domain/history/undo.ts";
import { countOutdated } from "../../domain/ledger/changes.ts";
import { petNotFound } from "../../domain/ledger/inventory.ts";
import { ledgerRowJson, seqMax } from "../../domain/ledger/ledger.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { countedAtRule, statusRule } from "../api/change-list.ts";
import { applyChanges as apiChanges, applyBatch } from "../api/changes.ts";
import { exampleRow } from "../api/contract/examples.ts";
import { json, type Parameter } from "../api/contract/operation.ts";
import { boundedInteger } from "../api/contract/schema.ts";
import { jsonBody } from "../api/operation.ts";
import { jsonTypes } from "../messages/requests.ts";
import type { Call } from "../pipeline/operation.ts";
import { conflictMessage, exampleConflict } from "./conflicts.ts";
import { exampleCount, exampleStatusChange, exampleUndo } from "./contract/stock-schemas.ts";
import { bodyMessages, flagField, readOptionalFields, textField } from "./fields.ts";
import { type AdminDeclaration, actorOf } from "./operation.ts";

const rowNumberRule = `Path parameter 'seq' must be an integer from 1 to ${seqMax}.`;

const seqParameter: Parameter = {
  name: "seq",
  in: "path",
  description: "The number of the ledger row.",
  schema: boundedInteger(1, Number.MAX_SAFE_INTEGER),
  example: 1207,
  messages: { invalid_seq: rowNumberRule },
};

const { contract: shared } = apiChanges;

const applyChanges: AdminDeclaration = {
  method: "POST",
  path: "/changes",
  body: { mediaTypes: jsonTypes, bytesMax: "changesBytesMax" },
  contract: {
    ...shared,
    description: `${shared.description} A change can also set the \`status\` of the pet, with or without a new count.

A change with \`countedAt\` is a count that was made earlier, while others sold: the new quantity is \`quantity\` plus what has changed since that row of the ledger. It fails with 409 if that is below 0 or not known.`,
    body: {
      ...shared.body!,
      examples: {
        ...shared.body!.examples,
        status: { summary: "A new status", value: { changes: [exampleStatusChange] } },
        count: { summary: "A count", value: { changes: [exampleCount] } },
      },
    },
    messages: {
      ...shared.messages,
      invalid_request: {
        ...shared.messages!.invalid_request,
        invalid_status: `Change 0 (pet 7): ${statusRule}`,
        invalid_counted_at: `Change 0 (pet 7): ${countedAtRule}`,
      },
      version_conflict: {
        ...shared.messages!.version_conflict,
        count_outdated: `Change 0 (pet 7): ${countOutdated}`,
      },
    },
  },
  handle: (context, call) => applyBatch(context, call, "console"),
};

/** Undoes one row of the ledger, through the committer: the list and the feed show it at once. */
const undoChange: AdminDeclaration = {
  method: "POST",
  path: "/changes/{seq}/undo",
  body: jsonBody,
  contract: {
    summary: "Undo a change",
    description:
      "Undoes a ledger row: adds a new row that gives the pet the quantity and status from before. If the pet has changed since, nothing is changed, unless `force` is true. The message then says what is stored now and who changed it. A row that added or removed a pet cannot be undone.",
    parameters: [seqParameter],
    body: json("The reason, and whether to overwrite later changes.", "Undo", { isOptional: true }),
    success: {
      200: json("The new row.", "LedgerRow", {
        examples: {
          row: {
            summary: "An undo",
            value: {
              ...exampleRow,
              seq: 1208,
              before: exampleRow.after,
              after: exampleRow.before,
              cause: "undo",
              reason: exampleUndo.reason,
            },
          },
        },
      }),
    },
    messages: {
      invalid_request: {
        ...bodyMessages,
        added_pet: undoOfCreation(31, 7n),
        removed_pet: undoOfRemoval(1207, 7n),
      },
      not_found: { not_found: "There is no ledger row 1300.", pet_not_found: petNotFound },
      version_conflict: { version_conflict: exampleConflict },
    },
  },
  async handle(context, call) {
    const { store, committer } = context;
    const seq = readRowNumber(call);
    const fields = await readOptionalFields(call);
    const { signal } = call.request;
    const outcome = await undoRow(
      {
        inventory: store.inventory,
        history: store.history,
        submit: (unit) => committer.submit(unit, signal, call.trace),
      },
      seq,
      {
        force: flagField(fields, "force"),
        reason: textField(fields, "reason") || undefined,
        actor: actorOf(call),
      },
    );
    if (outcome.kind === "undone") return { status: 200, body: ledgerRowJson(outcome.row) };
    if (outcome.kind === "changed_since") {
      throw new ServiceError("version_conflict", conflictMessage(outcome.latest));
    }
    const refusal = outcome.kind === "creates_entry" ? undoOfCreation : undoOfRemoval;
    throw new ServiceError("invalid_request", refusal(seq, outcome.petId));
  },
};

function undoOfCreation(seq: number, petId: bigint): string {
  return `Row ${seq} added pet ${petId}, so there is no earlier stock. Remove the pet instead.`;
}

function undoOfRemoval(seq: number, petId: bigint): string {
  return `Row ${seq} removed pet ${petId}. Create the pet again instead.`;
}

function readRowNumber({ request }: Call): number {
  const text = request.params?.seq ?? "";
  const seq = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seq <= seqMax)) throw new ServiceError("invalid_request", rowNumberRule);
  return seq;
}

export const changeOperations = { applyChanges, undoChange };
