import { type GrantedScope, roleOf, rolesFrom } from "../../domain/keys/keys.ts";
import type { Entry } from "../../domain/ledger/inventory.ts";

/** The messages of error responses. The API description shows them as examples. */

export const missingKey =
  "Missing or invalid API key. Send it as 'Authorization: Bearer <API_KEY>'.";

/** Mistakes that the sent key itself shows. None of these messages depends on which keys exist. */
export const notBearer = "The sent header Authorization does not use the scheme Bearer.";
export const keyInQuery = "A key in the query is not read, and logs may have kept it: rotate it.";
export const keyInOtherHeader = "A key in the header X-API-Key is not read.";
export const spacesInKey = "A key has no spaces.";
export const mistypedKey = "The sent key is incomplete or mistyped: its checksum does not match.";
export const operatorKeySent = "The sent key is an operator key, which only /admin accepts.";
export const apiKeySent = "The sent key is an API key, which only /v1 accepts.";

export function otherEnvironment(sent: string, own: string): string {
  return `The sent key belongs to ${sent}, and this is ${own}.`;
}

export function notAKey(prefix: string): string {
  return `The sent text is not a key of this service, which starts with ${prefix}.`;
}

export const missingOperatorKey =
  "Missing or invalid operator key. Sign in, or send the key as 'Authorization: Bearer <OPERATOR_KEY>'.";

export const crossOrigin =
  "The request does not come from a page of this service. With a session cookie, only such a page can make changes.";

export const signInWithKey =
  "Send the operator key as 'Authorization: Bearer <OPERATOR_KEY>' to sign in.";

export const pathNotFound = "Path not found.";

export const invalidHost = "The request must have exactly one valid Host header.";

export const operationGone = "This operation was removed on its sunset date.";

export const listChanged = "The list has changed. Its ETag does not match If-Match.";

/** `etag` is the whole ETag, with its quotes. */
export function entryChanged(
  { quantity, version }: Pick<Entry, "quantity" | "version">,
  etag: string,
): string {
  return `The entry does not match If-Match. Its quantity is ${quantity} and its version is ${version}. To change this version, send 'If-Match: ${etag}'.`;
}

export const ifMatchInvalid =
  "Header 'If-Match' must be * or the whole ETag of the entry with its quotes, such as \"k3v9x2-1207\".";

export const compressedBody =
  "The body must not be compressed. Remove the Content-Encoding header.";

export const bodyRequired = "A JSON body is required.";

export const invalidJson = "The body is not valid JSON.";

export const invalidUtf8 = "The body is not valid UTF-8.";

export const connectionClosed =
  "The connection was closed before the request was handled. Nothing was changed.";

export function bodyTooLate(seconds: number): string {
  return `The body did not arrive within ${seconds} seconds.`;
}

export const incompleteBody = "The body is incomplete.";

export function missingScope(scope: GrantedScope): string {
  const role = roleOf({ scopes: [scope] });
  if (role) return `This needs an operator key with the role ${rolesFrom(role).join(" or ")}.`;
  return `This API key does not have the scope '${scope}'.`;
}

/** `allow` is the value of the header Allow: "GET, HEAD, OPTIONS". */
export function methodNotAllowed(allow: string): string {
  return `Method not allowed. Use ${allow.replace(/, (\w+)$/, " or $1")}.`;
}

export function unsupportedMediaType(mediaTypes: readonly string[]): string {
  return `The body must be ${mediaTypes.join(" or ")}.`;
}

export function bodyTooLarge(bytesMax: number): string {
  return `The body is larger than ${bytesMax} bytes.`;
}

/** A request id lets the operator find the cause in the log. */
export function internalError(requestId?: string): string {
  return requestId === undefined
    ? "An internal error occurred."
    : `An internal error occurred. Request id: ${requestId}.`;
}

/** `resetsAt` and `until` are instants in ISO 8601. */
export function rateLimitExceeded(
  limit: number,
  window: "minute" | "day",
  resetsAt: string,
  seconds: number,
): string {
  return `The rate limit of ${requests(limit)} per ${window} is exceeded. It resets at ${resetsAt}, in ${seconds} s.`;
}

/** For requests without a valid key, which are counted by client address. */
export function addressLimitExceeded(limit: number, resetsAt: string, seconds: number): string {
  return `The rate limit of ${requests(limit)} per minute without a valid key is exceeded for this address. It resets at ${resetsAt}, in ${seconds} s.`;
}

export function keyBanned(until: string, seconds: number): string {
  return `This key is banned until ${until} because it kept sending requests after 429 responses. Retry in ${seconds} s.`;
}

export const tooManyStreams =
  "This key has too many open streams. Close one before you open another.";

function requests(count: number): string {
  return count === 1 ? "1 request" : `${count} requests`;
}
