import { digestOfTexts } from "../../domain/ledger/idempotency.ts";
import { invalidRequest } from "../../domain/running/errors.ts";

/**
 * A string of RFC 9651 3.3.3: printable ASCII in quotes, with a backslash before `"` and `\`. Or a token of
 * 3.3.4, which may also start with a digit: many clients send a bare UUID.
 */
export const idempotencyKeyPattern =
  /^(?:"(?:[ !#-[\]-~]|\\["\\]){1,255}"|[!#$%&'*+.^_`|~0-9A-Za-z:/-]{1,255})$/;

const rule =
  "must be one quoted string of printable ASCII characters, or one token without quotes, with 1 to 255 characters";

export const idempotencyKeyRule = `Header 'Idempotency-Key' ${rule}.`;

/** The request that a client may send again, as digests of its key and of its meaning. */
export interface SentOnce {
  readonly key: string;
  readonly request: string;
}

/** Returns the key without quotes. A header that is sent twice arrives joined, and is invalid. */
export function idempotencyKeyIn({ headers }: Pick<Request, "headers">): string | undefined {
  const header = headers.get("idempotency-key");
  return header === null ? undefined : parseIdempotencyKey(header);
}

export function parseIdempotencyKey(text: string, message = idempotencyKeyRule): string {
  if (!idempotencyKeyPattern.test(text)) throw invalidRequest(message);
  return text[0] === '"' ? text.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : text;
}

/**
 * Identifies a request of a key. `path` and `meaning` must be the same for every way to write the same
 * request. The store keeps the digests for days, so a release that derives them differently answers retries
 * of older requests with 422.
 */
export function identifyRequest(
  keyId: string,
  key: string | undefined,
  method: string,
  path: string,
  meaning: string,
): SentOnce | undefined {
  if (key === undefined) return undefined;
  return { key: digestOfTexts(keyId, key), request: digestOfTexts(method, path, meaning) };
}

/** On responses that repeat the result of an earlier request with the same `Idempotency-Key`. */
export const replayedHeaders = { "Idempotent-Replayed": "true" };
