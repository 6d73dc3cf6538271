import { type ErrorCode, Refusal } from "../domain/errors.ts";
import { acceptPatch, UnsupportedCoding } from "./body.ts";
import type { Answer } from "./call.ts";

/** A total record: a code without a status does not compile. */
export const statusOf: Record<ErrorCode, number> = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  gone: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limit_exceeded: 429,
  key_banned: 429,
  internal_error: 500,
  unavailable: 503,
};

/** How long a client is asked to wait when the store cannot be reached. */
const unavailableRetrySeconds = 1;

export function errorAnswer(
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Answer {
  const status = statusOf[code];
  const body = JSON.stringify({ code, message, status });
  return { status, body, headers: { "Cache-Control": "no-store", ...headers } };
}

/** For a path that names nothing. */
export const nothingHere = "There is nothing at this path.";

/** A refusal speaks for itself; a bug says nothing but its request id, under which it is logged. */
export function answerFor(error: unknown, requestId: string, log: (bug: unknown) => void): Answer {
  if (!(error instanceof Refusal)) {
    log(error);
    return errorAnswer("internal_error", `Something went wrong on our side (${requestId}).`);
  }
  const headers: Record<string, string> = {};
  if (error.code === "unavailable") headers["Retry-After"] = String(unavailableRetrySeconds);
  if (error.code === "unsupported_media_type") headers["Accept-Patch"] = acceptPatch;
  // RFC 9110 12.5.3: this header tells that it is the coding, not the type, that is not read.
  if (error instanceof UnsupportedCoding) headers["Accept-Encoding"] = "identity";
  return errorAnswer(error.code, error.message, headers);
}
