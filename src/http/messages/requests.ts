import { randomBytes } from "node:crypto";

/** A request from Bun's router, with its path parameters. */
export type IncomingRequest = Request & { readonly params?: Readonly<Record<string, string>> };

// Random per process and counted within it: unique without a system call per request.
const processId = `req_${randomBytes(6).toString("hex")}_`;
let requests = 0;

export function nextRequestId(): string {
  requests += 1;
  return `${processId}${requests}`;
}

/**
 * RFC 9110 7.2: a name or an address, and optionally a port. Bun joins two Host lines with a comma
 * and a space, and a host cannot contain a space.
 */
const hostPattern = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::[0-9]*)?$/i;

/** Most requests have the same Host, so the last valid one is compared before parsing. */
let lastValid = "";

/** RFC 9112 3.2: a server must reject a request with more than one Host or an invalid one. */
export function hasValidHost(headers: Headers): boolean {
  const host = headers.get("host");
  // HTTP/1.0 does not require a Host. From HTTP/1.1 on, Bun's parser does.
  if (host === lastValid || host === null) return true;
  if (!hostPattern.test(host)) return false;
  lastValid = host;
  return true;
}
