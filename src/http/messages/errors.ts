import { DetailedError, type ErrorCode, ServiceError } from "../../domain/running/errors.ts";
import { internalError } from "./error-messages.ts";
import type { Reply } from "./reply.ts";
import { UnsupportedEncoding } from "./requests.ts";

/** A total record: a code without a status does not compile. */
export const statusOf: Record<ErrorCode, number> = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  cross_origin: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  insufficient_stock: 409,
  version_conflict: 409,
  already_exists: 409,
  already_running: 409,
  last_owner: 409,
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

/** The `Retry-After` of a 503. */
const unavailableRetrySeconds = 1;

export function errorReply(
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
  details?: readonly object[],
): Reply {
  const status = statusOf[code];
  const body = JSON.stringify({ code, message, status, details });
  return { status, body, headers: { "Cache-Control": "no-store", ...headers }, errorCode: code };
}

/**
 * Turns anything that was thrown into a reply. A ServiceError has a code and a message for the client.
 * Anything else is a bug: the client receives only the request id, which the log has if the bug is new.
 */
export function replyFor(error: unknown, requestId: string): Reply {
  if (!(error instanceof ServiceError)) {
    return { ...errorReply("internal_error", internalError(requestId)), failure: error };
  }
  const headers: Record<string, string> = {};
  if (error.code === "unavailable") headers["Retry-After"] = String(unavailableRetrySeconds);
  // RFC 9110 12.5.3: this header shows that the encoding, not the media type, is not supported.
  if (error instanceof UnsupportedEncoding) headers["Accept-Encoding"] = "identity";
  const details = error instanceof DetailedError ? error.details : undefined;
  const reply = errorReply(error.code, error.message, headers, details);
  return error.code === "unavailable" ? { ...reply, failure: error } : reply;
}
