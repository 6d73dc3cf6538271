/**
 * RFC 9110 7.2: a name or an address, and maybe a port. Bun joins two Host lines with a comma and a
 * space, and no host contains a space.
 */
const hostPattern = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::[0-9]*)?$/i;

/** Nearly all requests name the same host, so the last good one is compared before it is parsed. */
let lastValid = "";

/** RFC 9112 3.2: a request with more than one Host or an invalid one is to be refused. */
export function hasValidHost(headers: Headers): boolean {
  const host = headers.get("host");
  // HTTP/1.0 needs none; from HTTP/1.1 Bun's parser asks for it.
  if (host === lastValid || host === null) return true;
  if (!hostPattern.test(host)) return false;
  lastValid = host;
  return true;
}

export const hostRule = "The request must have one Host header that names a host.";
