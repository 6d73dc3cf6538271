import type { InventoryEntry } from "./entry.js";
import type { RawResponse } from "./response.js";
import type { ErrorCode, FailedLine } from "./types.js";

/**
 * The error code that the service sent. Later versions of the service may add codes.
 *
 * The client adds `unexpected_answer`, for a response that cannot have come from the service: a
 * proxy's error page, a redirect, or a body that does not match the API contract.
 */
export type ApiErrorCode = ErrorCode | "unexpected_answer" | (string & {});

export interface ApiErrorFields {
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly message: string;
  readonly details?: readonly FailedLine[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly response?: RawResponse | undefined;
  readonly cause?: unknown;
}

/**
 * The service returned an error.
 *
 * If `response` is undefined, the client sent no request, because the service accepts none for longer
 * than the call may wait.
 */
export class ApiError extends Error {
  override readonly name: "ApiError" | "ConflictError" = "ApiError";
  readonly kind = "api";
  readonly code: ApiErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** Every change of a batch that the service rejected with 404 or 409, at most 100. Otherwise undefined. */
  readonly details: readonly FailedLine[] | undefined;
  /** The `X-Request-Id` of the response. Include it when you contact the operator. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt, if the service sent `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly #response: RawResponse | undefined;

  constructor(fields: ApiErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.status = fields.status;
    this.details = fields.details;
    this.requestId = fields.requestId;
    this.retryAfter = fields.retryAfter;
    this.#response = fields.response;
  }

  /** The HTTP response. Not an own property, so that a logged error stays short. */
  get response(): RawResponse | undefined {
    return this.#response;
  }
}

/**
 * An update with `ifMatch` was not applied, because the entry has another version. The code is
 * `precondition_failed`.
 */
export class ConflictError extends ApiError {
  override readonly name = "ConflictError";
  /**
   * The entry as the client read it after the conflict. Undefined if it could not be read, for
   * example because the key lacks the scope `inventory:read`.
   */
  readonly current: InventoryEntry | undefined;
  /** The version of the entry at the time of the conflict, or undefined if the service sent none. */
  readonly etag: string | undefined;

  constructor(error: ApiError, current: InventoryEntry | undefined) {
    const { code, status, message, requestId, retryAfter, response } = error;
    super({ code, status, message, requestId, retryAfter, response });
    this.current = current;
    this.etag = response?.headers.get("etag") ?? undefined;
  }
}

/**
 * The connection failed. A write may or may not have been applied: repeat it with the same
 * `idempotencyKey` to be sure.
 */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly kind = "network";
}

/**
 * There was no response in time. A write may or may not have been applied: repeat it with the same
 * `idempotencyKey` to be sure.
 */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
  readonly kind = "timeout";
}

/** The errors of a call, apart from aborts, invalid arguments and errors that your code throws. */
export type PetstoreError = ApiError | NetworkError | TimeoutError;

// These functions compare fields, because a program that both imports and requires the package has
// two copies of each class.

/** Checks for an ApiError, also a ConflictError. Use this instead of `instanceof`. */
export function isApiError(error: unknown): error is ApiError {
  return hasFields(error, "ApiError", "api") || isConflictError(error);
}

/** Checks for a ConflictError. Use this instead of `instanceof`. */
export function isConflictError(error: unknown): error is ConflictError {
  return hasFields(error, "ConflictError", "api");
}

/** Checks for a NetworkError. Use this instead of `instanceof`. */
export function isNetworkError(error: unknown): error is NetworkError {
  return hasFields(error, "NetworkError", "network");
}

/** Checks for a TimeoutError. Use this instead of `instanceof`. */
export function isTimeoutError(error: unknown): error is TimeoutError {
  return hasFields(error, "TimeoutError", "timeout");
}

export function isPetstoreError(error: unknown): error is PetstoreError {
  return isApiError(error) || isNetworkError(error) || isTimeoutError(error);
}

function hasFields(error: unknown, name: string, kind: string): boolean {
  return error instanceof Error && error.name === name && "kind" in error && error.kind === kind;
}
