import { hash, randomBytes } from "node:crypto";
import type { Limits, Plan } from "./plans.ts";

export const environments = ["production", "staging"] as const;
export type Environment = (typeof environments)[number];

export const scopes = ["inventory:read", "inventory:write", "pets:read", "orders:read"] as const;

/**
 * The scopes of a key that is issued without a list of scopes. The list is explicit, so a scope that
 * is added to `scopes` later is not granted unless an operator names it.
 */
export const defaultScopes: readonly Scope[] = [
  "inventory:read",
  "inventory:write",
  "pets:read",
  "orders:read",
];

export type Scope = (typeof scopes)[number];

/** An API key as the shop keeps it: everything but the key's text, of which only digests exist. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly limits: Limits;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/**
 * One text that opens a key. A key has one, or two while a rotation's overlap lasts; both count
 * against the same limits, so that rotating doubles nothing.
 */
export interface Secret {
  readonly digest: string;
  readonly expiresAt: number | null;
}

/** Who is asking, once the key was found good. */
export interface Caller {
  readonly keyId: string;
  readonly limits: Limits;
  readonly scopes: readonly Scope[];
  /** When this key, or the text it was opened with, stops being good; Infinity for never. */
  readonly goodUntil: number;
}

const prefixes: Record<Environment, string> = { production: "psk_live_", staging: "psk_test_" };
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 is just above 2^256. */
const randomLength = 43;
const checksumLength = 6;
const keyText = new RegExp(`^psk_(live|test)_[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** A fresh key: the environment, 256 random bits, and a checksum over both. */
export function generateKeyText(environment: Environment): string {
  const body =
    prefixes[environment] + toBase62(BigInt(`0x${randomBytes(32).toString("hex")}`), randomLength);
  return body + checksum(body);
}

/** Whether this could be a key of that environment; tells typos apart without a look-up. */
export function isKeyText(text: string, environment: Environment): boolean {
  if (!text.startsWith(prefixes[environment]) || !keyText.test(text)) return false;
  const body = text.slice(0, -checksumLength);
  return text.endsWith(checksum(body));
}

export function digestOf(text: string): string {
  return hash("sha256", text);
}

export function generateKeyId(): string {
  return `key_${toBase62(BigInt(`0x${randomBytes(9).toString("hex")}`), 13)}`;
}

/** The caller a key and the text it was opened with make, or undefined if it is no longer good. */
export function callerOf(key: Key, secret: Secret, now: number): Caller | undefined {
  if (key.revokedAt !== null) return undefined;
  const goodUntil = Math.min(key.expiresAt ?? Infinity, secret.expiresAt ?? Infinity);
  if (now >= goodUntil) return undefined;
  return { keyId: key.id, limits: key.limits, scopes: key.scopes, goodUntil };
}

function toBase62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= 62n) {
    digits = base62[Number(rest % 62n)] + digits;
  }
  return digits;
}

/** CRC-32 of the text, the same polynomial as zip and PNG, in six base-62 digits. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return toBase62(BigInt((crc ^ 0xffffffff) >>> 0), checksumLength);
}
