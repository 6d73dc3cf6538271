import type { HeaderOptions } from "./options.js";
import { version } from "./version.js";

/** Headers that only the client sets, and what to do instead. */
const reserved: Readonly<Record<string, string>> = {
  authorization: "Pass the key as apiKey",
  "idempotency-key": "Pass idempotencyKey to updateInventory or applyChanges",
  "if-match": "Pass ifMatch to updateInventory",
  "if-none-match": "The client manages the ETag of the list",
  "last-event-id": "Pass after to watch",
  "x-change-reason": "Pass reason to updateInventory",
  accept: "The client accepts JSON",
  "content-type": "The client sends JSON",
  "content-length": "The runtime sets it",
  "transfer-encoding": "The runtime sets it",
  connection: "The runtime sets it",
  host: "Pass the host in baseUrl",
  cookie: "The service does not use cookies",
};

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const printable = /^[\t\x20-\x7e]*$/;

/** The headers of every request, from the client's options. */
export function defaultHeaders(given: HeaderOptions | undefined): Headers {
  const own: HeaderOptions = canSetUserAgent()
    ? { "User-Agent": `petstore-inventory-client/${version}` }
    : {};
  return withHeaders(withHeaders(new Headers(), own), given);
}

/** Returns a copy of `base` with the given headers added, after checking them. */
export function withHeaders(base: Headers, given: HeaderOptions | undefined): Headers {
  const headers = new Headers(base);
  for (const [name, value] of Object.entries(given ?? {})) {
    checkName(name);
    if (value === undefined) headers.delete(name);
    else headers.set(name, checkValue(name, value));
  }
  return headers;
}

/** Throws if a hook added a reserved header. */
export function checkReserved(headers: Headers): void {
  for (const name of Object.keys(reserved)) if (headers.has(name)) checkName(name);
}

function checkName(name: string): void {
  if (!token.test(name)) throw new TypeError(`"${name}" is not a valid header name`);
  const instead = reserved[name.toLowerCase()];
  if (instead !== undefined) throw new TypeError(`The header ${name} is reserved. ${instead}`);
}

// The message does not include the value, which may be a secret.
function checkValue(name: string, value: unknown): string {
  if (typeof value === "string" && printable.test(value)) return value;
  throw new TypeError(`The header ${name} must be a string of printable ASCII characters`);
}

/**
 * True on Node, Bun and Deno. Browsers send their own User-Agent. A page that sets a different one
 * fails on every cross-origin request unless the service allows that header.
 */
function canSetUserAgent(): boolean {
  const { process, document } = globalThis as {
    process?: { versions?: { node?: string } };
    document?: unknown;
  };
  return process?.versions?.node !== undefined && document === undefined;
}
