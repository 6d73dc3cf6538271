import { undoRow } from "../../domain/history/undo.ts";
import { ledgerRowJson, seqMax } from "../../domain/ledger/ledger.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { applyBatch } from "../api/changes.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { actorOf } from "./actor.ts";
import { conflictMessage } from "./conflicts.ts";
import { flagField, readOptionalFields, textField } from "./fields.ts";

/** Applies a batch, whose changes can have a status. */
export const applyChanges = (context: Context, call: Call) => applyBatch(context, call, "console");

export const rowNumberRule = `Path parameter 'seq' must be an integer from 1 to ${seqMax}.`;

/** Undoes one row of the ledger, through the committer: the list and the feed show it at once. */
export async function undoChange(context: Context, call: Call): Promise<Reply> {
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
}

export function undoOfCreation(seq: number, petId: bigint): string {
  return `Row ${seq} added pet ${petId}, so there is no earlier stock. Remove the pet instead.`;
}

export function undoOfRemoval(seq: number, petId: bigint): string {
  return `Row ${seq} removed pet ${petId}. Create the pet again instead.`;
}

function readRowNumber({ request }: Call): number {
  const text = request.params?.seq ?? "";
  const seq = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seq <= seqMax)) throw new ServiceError("invalid_request", rowNumberRule);
  return seq;
}
