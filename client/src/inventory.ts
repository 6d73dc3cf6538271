import { readBody, unexpectedResponse } from "./body.js";
import type { Transport } from "./call.js";
import { decodeEntry } from "./decode.js";
import type { InventoryEntry } from "./entry.js";
import { type ApiError, ConflictError, isApiError, isPetstoreError } from "./errors.js";
import { formatId, type Id } from "./id.js";
import { idempotencyKeyHeader } from "./idempotency.js";
import { ifMatchHeader } from "./if-match.js";
import type { CallOptions, UpdateOptions } from "./options.js";
import type { WithResponse } from "./promise.js";
import { reasonHeader } from "./reason.js";
import { sendWithRetries } from "./retry.js";
import { trackTimeLeft } from "./time-left.js";
import type { InventoryUpdate } from "./types.js";

export async function getInventory(
  transport: Transport,
  petId: Id,
  options: CallOptions,
): Promise<WithResponse<InventoryEntry>> {
  const path = `/inventory/${formatId("petId", petId)}`;
  const call = { operation: "getInventory", method: "GET", path } as const;
  const response = await sendWithRetries(transport, call, options);
  const etag = response.headers.get("etag");
  if (etag === null) throw unexpectedResponse(response, "The response has no ETag");
  return { value: readBody(response, decodeEntry(etag)), response };
}

/** Sends an update. Rejects with a ConflictError that has the current entry, if it can be read. */
export async function updateInventory(
  transport: Transport,
  petId: Id,
  update: InventoryUpdate,
  options: UpdateOptions,
): Promise<WithResponse<InventoryEntry>> {
  const time = trackTimeLeft(transport.settings, options);
  try {
    return await sendUpdate(transport, petId, update, options);
  } catch (error) {
    if (!isPreconditionFailed(error)) throw error;
    throw await conflictFrom(transport, petId, error, time.options(options));
  }
}

/** Sends an update. Rejects with the ApiError of the 412 if the entry has another version. */
export async function sendUpdate(
  transport: Transport,
  petId: Id,
  update: InventoryUpdate,
  options: UpdateOptions,
): Promise<WithResponse<InventoryEntry>> {
  if (typeof update?.quantity !== "number") {
    throw new TypeError("Pass the new count as a number: { quantity: 5 }");
  }
  const ifMatch = ifMatchHeader(options);
  const reason = reasonHeader(options.reason);
  const call = {
    operation: "updateInventory",
    method: "PATCH",
    path: `/inventory/${formatId("petId", petId)}`,
    headers: {
      "Content-Type": "application/json",
      "Idempotency-Key": idempotencyKeyHeader(options.idempotencyKey),
      ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }),
      ...(reason === undefined ? {} : { "X-Change-Reason": reason }),
    },
    body: JSON.stringify({ quantity: update.quantity }),
  } as const;
  const response = await sendWithRetries(transport, call, options);
  // The update was applied, so a response without ETag is no error.
  const etag = response.headers.get("etag") ?? "";
  return { value: readBody(response, decodeEntry(etag)), response };
}

export function isPreconditionFailed(error: unknown): error is ApiError {
  return isApiError(error) && error.code === "precondition_failed";
}

/** Reads the current entry for the error of a 412, which does not contain it. */
export async function conflictFrom(
  transport: Transport,
  petId: Id,
  error: ApiError,
  { timeoutMs, attemptsMax, retryForMs, signal, headers }: CallOptions,
): Promise<ConflictError> {
  const options = { timeoutMs, attemptsMax, retryForMs, signal, headers };
  try {
    const { value } = await getInventory(transport, petId, options);
    return new ConflictError(error, value);
  } catch (reason) {
    // For example, the key may lack the scope inventory:read.
    if (isPetstoreError(reason)) return new ConflictError(error, undefined);
    throw reason;
  }
}
