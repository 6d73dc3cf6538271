import { WebhookVerificationError } from "./webhook-error.js";
import { decodeBase64 } from "./webhook-signature.js";

/** The headers of a request: a Headers object, or an object of names and values as on Node. */
export type WebhookHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

interface SignedFields {
  readonly id: string;
  /** Seconds since the Unix epoch, as they were signed. */
  readonly timestamp: string;
  /** Those of version 1. Others are skipped, because a later version of the service can add some. */
  readonly signatures: readonly Uint8Array[];
}

export function readWebhookHeaders(headers: WebhookHeaders): SignedFields {
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signature = readHeader(headers, "webhook-signature");
  if (!/^\d{1,12}$/.test(timestamp)) throw invalid("webhook-timestamp");
  const signatures: Uint8Array[] = [];
  for (const item of signature.split(" ")) {
    const bytes = item.startsWith("v1,") ? decodeBase64(item.slice(3)) : undefined;
    if (bytes !== undefined) signatures.push(bytes);
  }
  if (signatures.length === 0) throw invalid("webhook-signature");
  return { id, timestamp, signatures };
}

/** Names of headers have no case. A header that appears twice is not valid. */
function readHeader(headers: WebhookHeaders, name: string): string {
  const values = valuesOf(headers, name);
  const [value] = values;
  if (value === undefined || value === "") {
    throw new WebhookVerificationError("missing_header", `The header ${name} is missing`);
  }
  if (values.length > 1 || typeof value !== "string") throw invalid(name);
  return value;
}

function valuesOf(headers: WebhookHeaders, name: string): readonly unknown[] {
  if (typeof headers !== "object" || headers === null) {
    throw new TypeError("Pass the headers of the request: a Headers object, or a plain object");
  }
  // Not `instanceof`: a program can have several classes of Headers.
  const { get } = headers;
  if (typeof get === "function") return [(headers as Headers).get(name) ?? undefined];
  return Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value)
    .filter((value) => value !== undefined);
}

function invalid(name: string): WebhookVerificationError {
  return new WebhookVerificationError("invalid_header", `The header ${name} is not valid`);
}
