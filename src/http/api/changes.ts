import type { Entry } from "../../domain/ledger/inventory.ts";
import type { Cause } from "../../domain/ledger/ledger.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { applyChanges as storeChanges } from "../../domain/shop/shop.ts";
import { readJsonText } from "../messages/body.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { canonicalText, parseChanges } from "./change-list.ts";
import { replayedHeaders } from "./entries.ts";
import { identifyRequest } from "./idempotency.ts";

export const conditionsInBody =
  "Header 'If-Match' is not supported here. Give a change the field 'expectedVersion' instead.";
export const reasonsInBody =
  "Header 'X-Change-Reason' is not supported here. Give a change the field 'reason' instead.";

/** Applies a batch for a client of the API. */
export const applyChanges = changesHandler({ cause: "api", hasStatus: false });

/** The handler of a batch. The changes of operators can have a status. */
export function changesHandler({ cause, hasStatus }: { cause: Cause; hasStatus: boolean }) {
  return (context: Context, call: Call): Promise<Reply> =>
    applyBatch(context, call, cause, hasStatus);
}

async function applyBatch(
  context: Context,
  call: Call,
  cause: Cause,
  hasStatus: boolean,
): Promise<Reply> {
  const { requestId, request, caller, operation, trace } = call;
  const { headers, signal } = request;
  rejectUpdateHeaders(headers);
  const key = headers.get("idempotency-key");
  const changes = parseChanges(await readJsonText(request, operation), hasStatus);
  const idempotency =
    key === null ? undefined : identifyRequest(call, key, operation.path, canonicalText(changes));
  const write = { requestId, signal, trace, cause, idempotency };
  const { entries, isReplayed } = await storeChanges(context, caller, changes, write);
  const body = `{"entries":[${entries.map(versionedJson).join()}]}`;
  return isReplayed ? { status: 200, body, headers: replayedHeaders } : { status: 200, body };
}

/** Rejects headers that would protect or explain an update of one entry, and do nothing here. */
function rejectUpdateHeaders(headers: Headers): void {
  const condition = headers.get("if-match");
  if (condition !== null && condition.trim() !== "*") {
    throw new ServiceError("invalid_request", conditionsInBody);
  }
  if (headers.has("x-change-reason")) throw new ServiceError("invalid_request", reasonsInBody);
}

export function versionedJson({ petId, quantity, status, version }: Entry): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}","version":${version}}`;
}
