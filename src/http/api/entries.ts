import { petNotFound } from "../../domain/ledger/inventory.ts";
import type { VersionedEntry } from "../../domain/ledger/store.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { setQuantity } from "../../domain/shop/shop.ts";
import { entryJson } from "../list/chunks.ts";
import { readJsonText } from "../messages/body.ts";
import { entryChanged, ifMatchInvalid } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import {
  entryTag,
  expectedVersions,
  isTagList,
  satisfiesIfMatch,
  satisfiesIfNoneMatch,
} from "../messages/etags.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { identifyRequest } from "./idempotency.ts";
import { readPetId } from "./parameters.ts";
import { parseReason } from "./reasons.ts";
import { parseStockUpdate } from "./stock-update.ts";

/** Reads the store, not the list in memory, because only the store knows the epoch of a version. */
export async function getInventory({ store }: Context, { request }: Call): Promise<Reply> {
  const petId = readPetId(request);
  const expected = readIfMatch(request.headers);
  const current = await store.history.findEntry(petId);
  if (!current) throw new ServiceError("not_found", petNotFound);
  const tag = entryTag(current);
  if (expected !== null && !satisfiesIfMatch(expected, tag)) return preconditionFailed(current);
  const known = request.headers.get("if-none-match");
  if (known !== null && satisfiesIfNoneMatch(known, tag)) {
    return { status: 304, body: null, headers: { ETag: `"${tag}"` } };
  }
  return { status: 200, body: entryJson(current.entry.petId, current.entry), etag: `"${tag}"` };
}

export async function updateInventory(context: Context, call: Call): Promise<Reply> {
  const { requestId, request, caller, operation, trace } = call;
  const petId = readPetId(request);
  const { headers, signal } = request;
  const [ifMatch, key] = [readIfMatch(headers), headers.get("idempotency-key")];
  const reason = parseReason(headers.get("x-change-reason"));
  const quantity = parseStockUpdate(await readJsonText(request, operation));
  const idempotency = identifyRequest(call, key, `/inventory/${petId}`, `${quantity}`);
  const expected = ifMatch === null ? undefined : expectedVersions(ifMatch);
  const update = { petId, quantity, expected, reason, requestId, signal, trace, idempotency };
  const outcome = await setQuantity(context, caller, update);
  if (outcome.kind === "mismatch") return preconditionFailed(outcome.current);
  const { entries, epoch, isReplayed } = outcome;
  const entry = entries[0]!;
  const etag = `"${entryTag({ entry, epoch })}"`;
  const reply = { status: 200, body: entryJson(entry.petId, entry), etag };
  return isReplayed ? { ...reply, headers: replayedHeaders } : reply;
}

/** A text that is no tag is a mistake of the client, and not an entry that has changed. */
function readIfMatch(headers: Headers): string | null {
  const ifMatch = headers.get("if-match");
  if (ifMatch === null || isTagList(ifMatch)) return ifMatch;
  throw new ServiceError("invalid_request", ifMatchInvalid);
}

/** On responses that repeat the result of an earlier request with the same `Idempotency-Key`. */
export const replayedHeaders = { "Idempotent-Replayed": "true" };

/** A 412 that shows the current state, so that the client need not ask for it. */
function preconditionFailed(current: VersionedEntry): Reply {
  const etag = `"${entryTag(current)}"`;
  return errorReply("precondition_failed", entryChanged(current.entry, etag), { ETag: etag });
}
