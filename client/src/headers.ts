import type { HeaderOptions } from "./options.js";
import { version } from "./version.js";

/** Headers that the client sets itself, and what to do instead of setting them. */
const reserved: Readonly<Record<string, string>> = {
  authorization: "Pass the key as apiKey",
  "idempotency-key": "Pass idempotencyKey to updateInventory",
  "if-none-match": "The client keeps the list and its ETag itself",
  accept: "The client reads JSON",
  "content-type": "The client sends JSON",
  "content-length": "It follows from the body",
  "transfer-encoding": "It follows from the body",
  connection: "The platform sets it",
  host: "Pass it in baseUrl",
  cookie: "The service uses none",
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

/** The base with the given headers on top, checked; the base stays as it is. */
export function withHeaders(base: Headers, given: HeaderOptions | undefined): Headers {
  const headers = new Headers(base);
  for (const [name, value] of Object.entries(given ?? {})) {
    checkName(name);
    if (value === undefined) headers.delete(name);
    else headers.set(name, checkValue(name, value));
  }
  return headers;
}

/** For headers that a hook had in its hands: what it added obeys the same rules. */
export function checkReserved(headers: Headers): void {
  for (const name of Object.keys(reserved)) if (headers.has(name)) checkName(name);
}

function checkName(name: string): void {
  if (!token.test(name)) throw new TypeError(`"${name}" is not a header name`);
  const instead = reserved[name.toLowerCase()];
  if (instead !== undefined) throw new TypeError(`The header ${name} is reserved. ${instead}`);
}

// The value is not shown: it may be a secret.
function checkValue(name: string, value: unknown): string {
  if (typeof value === "string" && printable.test(value)) return value;
  throw new TypeError(`The header ${name} must be a string of printable ASCII characters`);
}

/**
 * True on Node, Bun and Deno. A browser sends its own, and a page that sets another makes every
 * request to another origin fail unless the service allows that header.
 */
function canSetUserAgent(): boolean {
  const { process, document } = globalThis as {
    process?: { versions?: { node?: string } };
    document?: unknown;
  };
  return process?.versions?.node !== undefined && document === undefined;
}
