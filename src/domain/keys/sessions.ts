import { randomBase62 } from "../values/base62.ts";
import type { Key, Secret } from "./keys.ts";

/**
 * Sessions of the console. An operator signs in with a key and gets a token, which the browser keeps
 * as a cookie. The store has only a digest of the token. A session ends with its time, with the key,
 * and with the secret that opened it.
 */

export const sessionMs = 12 * 60 * 60 * 1_000;

/** How many sessions a key can have at the same time. A new one ends the oldest. */
export const sessionsMax = 100;

export interface Session {
  /** The digest of the token. */
  readonly digest: string;
  /** The digest of the secret that the operator signed in with. */
  readonly secretDigest: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface FoundSession {
  readonly session: Session;
  readonly key: Key;
  readonly secret: Secret;
}

/** 62^43 is slightly more than 2^256. */
const tokenLength = 43;
const tokenText = new RegExp(`^[0-9A-Za-z]{${tokenLength}}$`);

export function generateToken(): string {
  return randomBase62(32, tokenLength);
}

export function isToken(text: string): boolean {
  return tokenText.test(text);
}
