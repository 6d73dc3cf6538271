import { decodeError } from "./decode.js";
import { ApiError } from "./errors.js";
import { type Json, parseWithLongIds } from "./json.js";

/** One answer of the service, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The body of a successful answer as `decode` reads it. */
export function readBody<T>(answer: Answer, decode: (value: Json) => T): T {
  try {
    return decode(parseWithLongIds(answer.text));
  } catch (cause) {
    throw unexpected(
      answer,
      `The answer is not what the service promises: ${reasonOf(cause)}`,
      cause,
    );
  }
}

export function unexpected(answer: Answer, message: string, cause?: unknown): ApiError {
  const requestId = answer.headers.get("x-request-id") ?? undefined;
  return new ApiError({
    code: "unexpected_answer",
    status: answer.status,
    requestId,
    message,
    cause,
  });
}

/** The refusal that an answer holds; also of one that never came from the service. */
export function readRefusal(answer: Answer, retryAfter: number | undefined): ApiError {
  try {
    const { code, message } = decodeError(parseWithLongIds(answer.text));
    const requestId = answer.headers.get("x-request-id") ?? undefined;
    return new ApiError({ code, message, status: answer.status, requestId, retryAfter });
  } catch {
    const shown = answer.text.slice(0, 200).trim();
    const message = `Status ${answer.status} without an error body of the service: ${shown}`;
    const { code, status, requestId } = unexpected(answer, message);
    return new ApiError({ code, message, status, requestId, retryAfter });
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
