/** Every code that an Error body can have. Later versions may add codes and never remove one. */
export const errorCodes = [
  "invalid_request",
  "unauthorized",
  "insufficient_scope",
  "cross_origin",
  "not_found",
  "method_not_allowed",
  "idempotency_conflict",
  "insufficient_stock",
  "version_conflict",
  "already_exists",
  "already_running",
  "last_owner",
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

/** Codes that the operator API sends, and the API never does. */
const adminCodes: ErrorCode[] = ["cross_origin", "already_exists", "already_running", "last_owner"];

/** Every code of the API. */
export const apiErrorCodes = errorCodes.filter((code) => !adminCodes.includes(code));

/**
 * An error that the client caused or must know about. Its message is safe to show to any client.
 * Every other exception is a bug: it is logged with its request id, and the client gets a fixed text.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  /** Why the store is unavailable, for logs and metrics. */
  readonly reason: UnavailableReason | undefined;

  /** `cause` is what happened, for the log. Clients never see it. */
  constructor(code: ErrorCode, message: string, reason?: UnavailableReason, cause?: unknown) {
    super(message, { cause });
    this.name = "ServiceError";
    this.code = code;
    this.reason = reason;
  }
}

/** The request breaks a rule, which the message names. */
export function invalidRequest(message: string): ServiceError {
  return new ServiceError("invalid_request", message);
}

/** Why the store cannot serve a request. Both engines and the domain use these messages. */
export const unavailableMessages = {
  /** No connection to the database server, or a disk error. */
  unreachable: "The store cannot be reached. Try again.",
  unreadable: "The store cannot be read. Try again later.",
  /** Writing is not possible until an operator or a failover changes that. */
  unwritable: "The store cannot be written. Try again later.",
  /** A lock or a resource was not free in time. */
  busy: "The store is busy. Try again.",
  /** No disk space. */
  full: "The store is full. Try again later.",
  cannotOpen: "The store's file cannot be opened.",
  /** The inventory and its ledger contradict each other. */
  damaged: "The store is damaged and must be repaired.",
  /** Nothing of the request was stored, and nothing will be. */
  timeout: "The store did not respond in time. Try again.",
  /**
   * The only message of an update that may have been stored. The rule for it is in
   * docs/outcomes.md.
   */
  unknownOutcome:
    "The store did not confirm the update. It is not known whether the update was stored.",
  /** The transaction was rolled back. */
  rolledBack: "The update was not stored. Try again.",
  tooManyUpdates: "Too many updates are waiting to be stored. Try again.",
  tooManyOwnUpdates: "This key has too many updates waiting to be stored. Try again.",
  tooManyRequests: "Too many requests are waiting. Try again.",
  tooManyOwnRequests: "This key has too many long requests under way. Try again.",
  tooManyStreams: "The service has too many open streams. Try again later.",
  stopping: "The service is stopping. Try again.",
} as const;

export type UnavailableReason = keyof typeof unavailableMessages;

export function unavailable(reason: UnavailableReason, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", unavailableMessages[reason], reason, cause);
}

/** A ServiceError, as it is sent to another thread or process. Its cause is a text. */
export interface SentError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason: UnavailableReason | undefined;
  readonly cause: string | undefined;
}

export function sentError({ code, message, reason, cause }: ServiceError): SentError {
  return { code, message, reason, cause: cause === undefined ? undefined : String(cause) };
}

export function receivedError({ code, message, reason, cause }: SentError): ServiceError {
  return new ServiceError(code, message, reason, cause);
}

/** An error with details: the lines of a request that break rules, or what an earlier request has made. */
export class DetailedError extends ServiceError {
  /** To be written as JSON. */
  readonly details: readonly object[];

  constructor(code: ErrorCode, message: string, details: readonly object[]) {
    super(code, message);
    this.details = details;
  }
}

/**
 * An input field breaks a rule. The message names the field as the domain does. A caller that uses
 * another name, such as a flag of the command line, builds its own message from `field` and `rule`.
 */
export class InvalidField extends ServiceError {
  readonly field: string;
  /** The rest of a sentence that starts with the field's name: "must be …". */
  readonly rule: string;

  constructor(field: string, rule: string) {
    super("invalid_request", `Field '${field}' ${rule}.`);
    this.field = field;
    this.rule = rule;
  }
}
