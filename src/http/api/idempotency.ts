import { digestOfTexts } from "../../domain/ledger/idempotency.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { WriteRequest } from "../../domain/shop/shop.ts";
import type { Call } from "../pipeline/operation.ts";

const keyCharactersMax = 255;

export const idempotencyKeyRule = `Header 'Idempotency-Key' must be one quoted string of printable ASCII characters, or one token without quotes, with 1 to ${keyCharactersMax} characters.`;

/** A string of RFC 9651 3.3.3: printable ASCII in quotes, with a backslash before `"` and `\`. */
const quotedString = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/** A token of RFC 9651 3.3.4, which may also start with a digit: many clients send a bare UUID. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z:/-]+$/;

/** Returns the key without quotes. A header that is sent twice arrives joined, and is invalid. */
export function parseIdempotencyKey(header: string): string {
  const quoted = quotedString.exec(header);
  const key = quoted ? quoted[1]!.replaceAll(/\\(["\\])/g, "$1") : token.exec(header)?.[0];
  if (!key || key.length > keyCharactersMax) {
    throw new ServiceError("invalid_request", idempotencyKeyRule);
  }
  return key;
}

/**
 * Identifies a request by its `Idempotency-Key`. Returns undefined if it has none. `path` and `body`
 * must be the same for every way to write the same request. The store keeps the digest for days, so a
 * release that derives them differently answers retries of older requests with 422.
 */
export function identifyRequest(
  { caller, operation }: Call,
  header: string | null,
  path: string,
  body: string,
): WriteRequest["idempotency"] {
  if (header === null) return undefined;
  return {
    key: digestOfTexts(caller.keyId, parseIdempotencyKey(header)),
    request: digestOfTexts(operation.method, path, body),
  };
}
