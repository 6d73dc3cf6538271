import type { RawResponse } from "./response.js";
import type { ErrorCode } from "./types.js";

/**
 * The error code that the service sent. Later versions of the service may add codes.
 *
 * The client adds `unexpected_answer`, for a response that cannot have come from the service: a
 * proxy's error page, a redirect, or a body that does not match the API contract.
 */
export type ApiErrorCode = ErrorCode | "unexpected_answer" | (string & {});

export interface ApiErrorDetails {
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly message: string;
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
  override readonly name = "ApiError";
  readonly kind = "api";
  readonly code: ApiErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** The `X-Request-Id` of the response. Include it when you contact the operator. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt, if the service sent `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly #response: RawResponse | undefined;

  constructor(details: ApiErrorDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.#response = details.response;
  }

  /** The HTTP response. Not an own property, so that a logged error stays short. */
  get response(): RawResponse | undefined {
    return this.#response;
  }
}

/** The connection failed. An update may or may not have been applied. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly kind = "network";
}

/** There was no response in time. An update may or may not have been applied. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
  readonly kind = "timeout";
}

/** The errors of a call, apart from aborts, invalid arguments and errors that your code throws. */
export type PetstoreError = ApiError | NetworkError | TimeoutError;

// These functions compare fields, because a program that both imports and requires the package has
// two copies of each class.

/** Checks for an ApiError. Use this instead of `instanceof`. */
export function isApiError(error: unknown): error is ApiError {
  return isPetstoreError(error, "ApiError", "api");
}

/** Checks for a NetworkError. Use this instead of `instanceof`. */
export function isNetworkError(error: unknown): error is NetworkError {
  return isPetstoreError(error, "NetworkError", "network");
}

/** Checks for a TimeoutError. Use this instead of `instanceof`. */
export function isTimeoutError(error: unknown): error is TimeoutError {
  return isPetstoreError(error, "TimeoutError", "timeout");
}

function isPetstoreError(error: unknown, name: string, kind: string): boolean {
  return error instanceof Error && error.name === name && "kind" in error && error.kind === kind;
}
