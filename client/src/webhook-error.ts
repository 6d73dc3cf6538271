/**
 * Why a message was not accepted: `missing_header` or `invalid_header`, `too_old` or `too_new`,
 * `wrong_signature`, or `unexpected_body` for a signed message that this version does not know.
 */
export type WebhookVerificationReason =
  | "missing_header"
  | "invalid_header"
  | "too_old"
  | "too_new"
  | "wrong_signature"
  | "unexpected_body";

/** A request that is not a valid message of a webhook. Do not act on it. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly kind = "webhook";
  readonly reason: WebhookVerificationReason;

  constructor(reason: WebhookVerificationReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** Checks for a WebhookVerificationError. Use this instead of `instanceof`. */
export function isWebhookVerificationError(error: unknown): error is WebhookVerificationError {
  // Compares fields, because a program that imports and requires the package has two classes.
  return (
    error instanceof Error &&
    error.name === "WebhookVerificationError" &&
    "kind" in error &&
    error.kind === "webhook"
  );
}
