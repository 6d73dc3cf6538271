import { crc32 } from "node:zlib";
import type { Limits, Plan } from "../limits/plans.ts";
import { randomBase62, randomId, toBase62 } from "../values/base62.ts";

export const environments = ["production", "staging"] as const;
export type Environment = (typeof environments)[number];

export const scopes = [
  "inventory:read",
  "inventory:write",
  "pets:read",
  "orders:read",
  "history:read",
] as const;

/**
 * The scopes of a key that is issued without a list of scopes. The list is explicit, so a scope that
 * is added to `scopes` later is not granted unless an operator names it.
 */
export const defaultScopes: readonly Scope[] = [
  "inventory:read",
  "inventory:write",
  "pets:read",
  "orders:read",
  "history:read",
];

export type Scope = (typeof scopes)[number];

/** The roles of operators. Each one can do everything that those before it can. */
export const roles = ["viewer", "clerk", "owner"] as const;
export type Role = (typeof roles)[number];

/** The one scope of an operator's key, by role. No API key has it. */
export const roleScopes = {
  viewer: "operator:viewer",
  clerk: "operator:clerk",
  owner: "operator",
} as const satisfies Readonly<Record<Role, string>>;
export type OperatorScope = (typeof roleScopes)[Role];

/** What an operation can require of a caller. */
export type GrantedScope = Scope | OperatorScope;

/** API keys are for clients of the API. Operator keys are for the operator API and the console. */
export type KeyKind = "api" | "operator";

/** The plan of every operator key, and of no API key. */
export const operatorPlan = "operator";

/** A key as it is stored. Its secret is not stored, only a digest. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan | typeof operatorPlan;
  readonly limits: Limits;
  readonly scopes: readonly GrantedScope[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/**
 * The digest of one secret of a key. During a rotation, a key has several. All count against the same
 * limits, so a rotation does not raise them.
 */
export interface Secret {
  readonly digest: string;
  readonly expiresAt: number | null;
}

/** One secret of a key, as operators see it. */
export interface SecretTimes {
  readonly keyId: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** The client of a request, after authentication. */
export interface Caller {
  readonly keyId: string;
  readonly limits: Limits;
  readonly scopes: readonly GrantedScope[];
  /** When the key or the secret expires; Infinity for never. */
  readonly expiresAt: number;
}

/** The role that scopes give; undefined if they are not those of an operator. */
export function roleOf({ scopes }: Pick<Key, "scopes">): Role | undefined {
  return roles.findLast((role) => scopes.includes(roleScopes[role]));
}

/** A role and those that can do more. */
export function rolesFrom(least: Role): readonly Role[] {
  return roles.slice(roles.indexOf(least));
}

/** Enough for several open pages of the console, and for scripts. */
export const operatorLimits: Limits = { perMinute: 3_000, perDay: 1_000_000 };

export function kindOf({ plan }: Pick<Key, "plan">): KeyKind {
  return plan === operatorPlan ? "operator" : "api";
}

const prefixes: Record<KeyKind, Record<Environment, string>> = {
  api: { production: "psk_live_", staging: "psk_test_" },
  operator: { production: "pso_live_", staging: "pso_test_" },
};
/** 62^43 is slightly more than 2^256. */
const randomLength = 43;
const checksumLength = 6;
const keyText = new RegExp(`^ps[ko]_(live|test)_[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** Makes the secret of a key: a prefix for kind and environment, 256 random bits, and a checksum. */
export function generateKeyText(environment: Environment, kind: KeyKind = "api"): string {
  const body = prefixes[kind][environment] + randomBase62(32, randomLength);
  return body + checksum(body);
}

/** Checks prefix, length and checksum, so that a typing error costs no query. */
export function isKeyText(text: string, environment: Environment, kind: KeyKind = "api"): boolean {
  if (!text.startsWith(prefixes[kind][environment]) || !keyText.test(text)) return false;
  const body = text.slice(0, -checksumLength);
  return text.endsWith(checksum(body));
}

/** Why a text cannot be the secret of a key of this kind and environment. */
export type KeyFault =
  | { readonly kind: "prefix"; readonly expected: string }
  | { readonly kind: "other kind" | "checksum" }
  | { readonly kind: "other environment"; readonly environment: Environment };

/** Undefined if the text can be such a secret. Whether the key exists makes no difference. */
export function findKeyFault(
  text: string,
  environment: Environment,
  kind: KeyKind,
): KeyFault | undefined {
  for (const sentKind of ["api", "operator"] as const) {
    const place = environments.find((one) => text.startsWith(prefixes[sentKind][one]));
    if (place === undefined) continue;
    if (!isKeyText(text, place, sentKind)) return { kind: "checksum" };
    if (place !== environment) return { kind: "other environment", environment: place };
    return sentKind === kind ? undefined : { kind: "other kind" };
  }
  return { kind: "prefix", expected: prefixes[kind][environment] };
}

const tokenText = new RegExp(`^[0-9A-Za-z]{${randomLength}}$`);

/** Makes the token of a session. */
export function generateToken(): string {
  return randomBase62(32, randomLength);
}

export function isToken(text: string): boolean {
  return tokenText.test(text);
}

export function generateKeyId(): string {
  return randomId("key_");
}

/** The caller for a key and one of its secrets, or undefined if either has expired or was revoked. */
export function callerOf(key: Key, secret: Secret, now: number): Caller | undefined {
  if (key.revokedAt !== null) return undefined;
  const expiresAt = Math.min(key.expiresAt ?? Infinity, secret.expiresAt ?? Infinity);
  if (now >= expiresAt) return undefined;
  return { keyId: key.id, limits: key.limits, scopes: grantedScopes(key), expiresAt };
}

/** The scopes of a key. An operator has those of the lower roles, too. */
function grantedScopes(key: Key): readonly GrantedScope[] {
  if (kindOf(key) === "api") return key.scopes;
  return roles.slice(0, roles.indexOf(roleOf(key)!) + 1).map((role) => roleScopes[role]);
}

/** CRC-32 of the text in six base-62 digits. */
function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), checksumLength);
}
