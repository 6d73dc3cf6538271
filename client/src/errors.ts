import type { ErrorCode } from "./types.js";

/**
 * `unexpected_answer` is the client's own: what came back is not an answer of the service, such as
 * a proxy's error page or a body that breaks the contract.
 */
export type ApiErrorCode = ErrorCode | "unexpected_answer";

export interface ApiErrorDetails {
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The service answered, and the answer is a refusal. One without a `requestId` may be the client's
 * own: it knew that no request is admitted for longer than the call may wait, and sent none.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind = "api";
  readonly code: ApiErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** The service's `X-Request-Id`, worth quoting to its operator. */
  readonly requestId: string | undefined;
  /** Seconds to wait before trying again, where the service gave them. */
  readonly retryAfter: number | undefined;

  constructor(details: ApiErrorDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
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

/** Everything a call can fail with, besides its own AbortSignal and invalid arguments. */
export type PetstoreError = ApiError | NetworkError | TimeoutError;

export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError;
}

export function isNetworkError(error: unknown): error is NetworkError {
  return error instanceof NetworkError;
}

export function isTimeoutError(error: unknown): error is TimeoutError {
  return error instanceof TimeoutError;
}
