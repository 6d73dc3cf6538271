/** Every code an Error body can carry. Later versions may add codes, and take none away. */
export const errorCodes = [
  "invalid_request",
  "unauthorized",
  "insufficient_scope",
  "not_found",
  "method_not_allowed",
  "idempotency_conflict",
  "gone",
  "precondition_failed",
  "payload_too_large",
  "unsupported_media_type",
  "idempotency_key_reused",
  "rate_limit_exceeded",
  "key_banned",
  "internal_error",
  "unavailable",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/**
 * An outcome the caller is to blame for or has to know about. Its text is safe to show to anyone.
 * Whatever else is thrown is a bug: logged with its request id and answered with a fixed text.
 */
export class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = "Refusal";
    this.code = code;
  }
}
