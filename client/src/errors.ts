import type { RawResponse } from "./response.js";
import type { ErrorCode } from "./types.js";

/**
 * The code as the service sent it; later versions of the service may send further ones.
 * `unexpected_answer` is the client's own: what came back is not a response of the service, such
 * as a proxy's error page, a redirect or a body that breaks the contract.
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
 * The service answered, and the answer is a refusal. One without a `response` is the client's own:
 * it knew that no request is admitted for longer than the call may wait, and sent none.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind = "api";
  readonly code: ApiErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** The service's `X-Request-Id`. Quote it when you ask the operator. */
  readonly requestId: string | undefined;
  /** Seconds to wait before trying again, where the service gave them. */
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

  /** The response that refused. Kept out of the fields, so that a printed error stays short. */
  get response(): RawResponse | undefined {
    return this.#response;
  }
}

/** No answer: the connection failed or broke. Whether an update was applied is not known. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly kind = "network";
}

/** No answer in time. Whether an update was applied is not known. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
  readonly kind = "timeout";
}

/** Everything a call can fail with, besides its own AbortSignal, hooks and invalid arguments. */
export type PetstoreError = ApiError | NetworkError | TimeoutError;

// By their fields, not by `instanceof`: a program can load the package twice, by import and by
// require, and then has each class twice.
export function isApiError(error: unknown): error is ApiError {
  return isOurs(error, "ApiError", "api");
}

export function isNetworkError(error: unknown): error is NetworkError {
  return isOurs(error, "NetworkError", "network");
}

export function isTimeoutError(error: unknown): error is TimeoutError {
  return isOurs(error, "TimeoutError", "timeout");
}

function isOurs(error: unknown, name: string, kind: string): boolean {
  return error instanceof Error && error.name === name && "kind" in error && error.kind === kind;
}
