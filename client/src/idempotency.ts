/**
 * Returns the value of the `Idempotency-Key` header: the caller's key or a random one, as a
 * structured-field string.
 */
export function idempotencyKeyHeader(key: string | undefined): string {
  if (key === undefined) return `"${randomUuid()}"`;
  if (typeof key !== "string" || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new TypeError("idempotencyKey must be a string of 1 to 255 printable ASCII characters");
  }
  // RFC 9651, section 3.3.3: quotes and backslashes are escaped.
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}

/** Creates a UUID. Browsers do not offer `crypto.randomUUID` on pages served without TLS. */
function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // RFC 9562, version 4: four version bits and two variant bits.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
