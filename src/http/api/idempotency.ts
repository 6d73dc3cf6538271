import { digestOfTexts } from "../../domain/ledger/idempotency.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { WriteRequest } from "../../domain/shop/shop.ts";
import type { Call } from "../pipeline/operation.ts";
import type { Parameter } from "./contract/operation.ts";

const keyCharactersMax = 255;

export const idempotencyKeyRule = `Header 'Idempotency-Key' must be one quoted string of printable ASCII characters, or one token without quotes, with 1 to ${keyCharactersMax} characters.`;

export const idempotencyKeyParameter: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Makes the request safe to send again. Generate a new unique value, such as a UUID, for every change that you want to make, and send the same value with every attempt. A repeated request returns the result of the first one and changes nothing. The value is a string in quotes, or a token without quotes, of 1 to 255 characters. Each API key has its own values. Results are kept for 7 days unless the operator sets another time.",
  schema: { type: "string" },
  example: '"5f0c1e9a-2b7d-4c6e-9a51-0d3f8e7b2c14"',
};

/** A string of RFC 9651 3.3.3: printable ASCII in quotes, with a backslash before `"` and `\`. */
const quotedString = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/** A token of RFC 9651 3.3.4, which may also start with a digit: many clients send a bare UUID. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z:/-]+$/;

/** Returns the key without quotes. A header that is sent twice arrives joined, and is invalid. */
function parseIdempotencyKey(header: string): string {
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

/** On responses that repeat the result of an earlier request with the same `Idempotency-Key`. */
export const replayedHeaders = { "Idempotent-Replayed": "true" };
