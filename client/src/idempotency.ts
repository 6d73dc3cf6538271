/** The `Idempotency-Key` field: the caller's key or a fresh one, as a structured-field string. */
export function idempotencyField(key: string | undefined): string {
  if (key === undefined) return `"${randomUuid()}"`;
  if (typeof key !== "string" || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new TypeError("idempotencyKey must be a string of 1 to 255 printable ASCII characters");
  }
  // RFC 9651, 3.3.3: a quote and a backslash are escaped.
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}

/** Built from random bytes: `crypto.randomUUID` is missing on browser pages served without TLS. */
function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // RFC 9562, version 4: four bits of version, two of variant.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
