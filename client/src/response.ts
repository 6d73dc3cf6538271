import { decodeError } from "./decode.js";
import { ApiError } from "./errors.js";
import { type Json, parseWithLongIds } from "./json.js";

/** One response of the service, read to its end. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it was sent; empty where there was none, as in a 304. */
  readonly text: string;
}

export function isSuccess({ status }: RawResponse): boolean {
  return (status >= 200 && status < 300) || status === 304;
}

/** The body of a successful response as `decode` reads it. */
export function readBody<T>(response: RawResponse, decode: (value: Json) => T): T {
  try {
    return decode(parseWithLongIds(response.text));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unexpected(response, `The response breaks the service's contract: ${reason}`, cause);
  }
}

export function unexpected(response: RawResponse, message: string, cause?: unknown): ApiError {
  return new ApiError({ code: "unexpected_answer", message, cause, ...factsOf(response) });
}

/** The refusal that a response holds; also one that never came from the service. */
export function readRefusal(response: RawResponse, retryAfter: number | undefined): ApiError {
  const facts = { ...factsOf(response), retryAfter };
  try {
    const { code, message } = decodeError(parseWithLongIds(response.text));
    return new ApiError({ code, message, ...facts });
  } catch {
    const shown = response.text.slice(0, 200).trim();
    const message = `Status ${response.status} without an error body of the service: ${shown}`;
    return new ApiError({ code: "unexpected_answer", message, ...facts });
  }
}

function factsOf(response: RawResponse) {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return { status: response.status, requestId, response };
}
