/** Makes a key for a write that may be sent more than once. */
export function createIdempotencyKey(): string {
  // Not randomUUID: browsers have it only on pages with TLS and on localhost.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
