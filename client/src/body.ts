import { decodeError } from "./decode.js";
import { ApiError } from "./errors.js";
import { type Json, parseWithLongIds } from "./json.js";
import type { RawResponse } from "./response.js";

/** Decodes the body of a successful response. */
export function readBody<T>(response: RawResponse, decode: (value: Json) => T): T {
  try {
    return decode(parseWithLongIds(response.text));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unexpectedResponse(
      response,
      `The response does not match the API contract: ${reason}`,
      cause,
    );
  }
}

/** Decodes the body of an error response. A proxy's error page becomes `unexpected_answer`. */
export function readError(response: RawResponse, retryAfter: number | undefined): ApiError {
  const context = { ...contextOf(response), retryAfter };
  try {
    return new ApiError({ ...decodeError(parseWithLongIds(response.text)), ...context });
  } catch {
    const excerpt = response.text.slice(0, 200).trim();
    const message = `Status ${response.status} without a valid error body: ${excerpt}`;
    return new ApiError({ code: "unexpected_answer", message, ...context });
  }
}

/** The error for a response that the service cannot have sent. */
export function unexpectedResponse(
  response: RawResponse,
  message: string,
  cause?: unknown,
): ApiError {
  return new ApiError({ code: "unexpected_answer", message, cause, ...contextOf(response) });
}

function contextOf(response: RawResponse) {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return { status: response.status, requestId, response };
}
