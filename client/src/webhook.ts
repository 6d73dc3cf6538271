import { decodeLedgerRows } from "./decode-ledger.js";
import { checkString, readFields } from "./fields.js";
import { type Json, parseWithLongIds } from "./json.js";
import { atLeast } from "./settings.js";
import type { InventoryChanged, WebhookTest } from "./types.js";
import { WebhookVerificationError } from "./webhook-error.js";
import { readWebhookHeaders, type WebhookHeaders } from "./webhook-headers.js";
import { hasValidSignature, readSecrets } from "./webhook-signature.js";

/** A verified message of a webhook: changes, or a test, which has none. */
export type WebhookPayload = InventoryChanged | WebhookTest;

export interface VerifyWebhookOptions {
  /** How far the message's timestamp may be from the current time. Default: 300,000, five minutes. */
  readonly toleranceMs?: number | undefined;
  /** Returns the current time in milliseconds since the Unix epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Checks that a message came from the service and was not changed, and returns its content. Otherwise
 * it rejects with a WebhookVerificationError. Respond with a 4xx status then.
 *
 * `body` is the body of the request as it arrived. JSON that was parsed and written again has other
 * bytes, and its signature is wrong. `secrets` is the secret of the webhook, or both secrets while the
 * secret is rotated.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secrets: string | readonly string[],
  options: VerifyWebhookOptions = {},
): Promise<WebhookPayload> {
  const keys = readSecrets(secrets);
  const bytes = readBytes(body);
  const toleranceMs = atLeast(0, "toleranceMs", options.toleranceMs ?? 300_000);
  const { id, timestamp, signatures } = readWebhookHeaders(headers);
  checkTime(Number(timestamp) * 1000, toleranceMs, (options.now ?? Date.now)());
  const content = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  if (!(await hasValidSignature(content, signatures, keys))) {
    throw new WebhookVerificationError("wrong_signature", "No signature matches the message");
  }
  return readPayload(bytes);
}

function readBytes(body: unknown): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  // Not `instanceof`: test runners such as Jest have several classes of arrays.
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]") {
    return new Uint8Array(body as ArrayBuffer);
  }
  throw new TypeError("Pass the body of the request as it arrived: a string or bytes");
}

function checkTime(sentMs: number, toleranceMs: number, nowMs: number): void {
  if (nowMs - sentMs > toleranceMs) {
    throw new WebhookVerificationError("too_old", "The timestamp of the message is too old");
  }
  if (sentMs - nowMs > toleranceMs) {
    throw new WebhookVerificationError(
      "too_new",
      "The timestamp of the message is in the future. Is the clock of this machine right?",
    );
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

function readPayload(bytes: Uint8Array): WebhookPayload {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return decodePayload(parseWithLongIds(text));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WebhookVerificationError(
      "unexpected_body",
      `The signature is valid, but the body is not a message of this version: ${reason}`,
      cause,
    );
  }
}

function decodePayload(value: Json): WebhookPayload {
  const fields = readFields(value);
  if (fields.type !== "inventory.changed" && fields.type !== "test") {
    throw new TypeError("type is neither inventory.changed nor test");
  }
  checkString(fields.timestamp, "timestamp");
  const data = readFields(fields.data as Json | undefined);
  checkString(data.cursor, "cursor");
  // Replaces the ids in place.
  decodeLedgerRows(data.changes as Json | undefined);
  return fields as unknown as WebhookPayload;
}
