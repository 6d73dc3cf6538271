import { createHmac, randomBytes } from "node:crypto";
import type { WebhookSecrets } from "./webhook.ts";

const prefix = "whsec_";
export const secretForm = /^whsec_[A-Za-z0-9+/]+=*$/;

/** Makes a secret: 256 random bits. */
export function generateSecret(): string {
  return prefix + randomBytes(32).toString("base64");
}

/** The secrets that sign at this time, the current one first. */
export function signingSecrets(
  { current, previous, previousExpiresAt }: WebhookSecrets,
  now: number,
): readonly string[] {
  const isValid = previous !== null && previousExpiresAt !== null && now < previousExpiresAt;
  return isValid ? [current, previous] : [current];
}

/** A signature of the Standard Webhooks specification: version 1, HMAC-SHA256. */
export function sign(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(prefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
}
