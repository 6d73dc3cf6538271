/** Returns the value of the `X-Change-Reason` header, or undefined if there is no reason. */
export function reasonHeader(reason: string | undefined): string | undefined {
  const text = checkReason("reason", reason);
  return text === undefined || text === "" ? undefined : encodeURIComponent(text);
}

/** Rejects what cannot be sent as UTF-8. The service checks the length and the characters. */
export function checkReason(name: string, reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined;
  // With the flag u, the pattern matches only surrogates that are not part of a pair.
  if (typeof reason === "string" && !/[\ud800-\udfff]/u.test(reason)) return reason;
  throw new TypeError(`${name} must be a string without lone surrogates`);
}
