import { auditEntry, type By } from "../audit/audit.ts";
import type { Usage } from "../limits/limits.ts";
import { InvalidField, invalidRequest, ServiceError, unavailable } from "../running/errors.ts";
import { type Ban, isInForce, type UsageStore } from "../usage/usage.ts";
import { dayMs, minuteMs } from "../values/times.ts";
import { digestOf } from "./keyring.ts";
import {
  callerOf,
  type Environment,
  generateKeyId,
  generateKeyText,
  type Key,
  type KeyKind,
  kindOf,
  roleOf,
  type SecretTimes,
} from "./keys.ts";
import type { KeyStore } from "./store.ts";
import {
  checkChange,
  checkOperatorTerms,
  checkTerms,
  type KeyChange,
  type KeyTerms,
  type OperatorTerms,
} from "./terms.ts";

/** What an operator can do with keys. Every function checks its rules before it writes. */

type Keys = { readonly keys: KeyStore };
type KeysAndUsage = Keys & { readonly usage: UsageStore };
type StatusReads = {
  readonly keys: Pick<KeyStore, "listKeys" | "listSecrets">;
  readonly usage: Pick<UsageStore, "loadUsage" | "loadBans">;
};

export interface IssuedKey {
  readonly key: Key;
  /** The secret that clients send. The store has only its digest, so it cannot be shown again. */
  readonly text: string;
}

export interface RotatedKey extends IssuedKey {
  /** The time at which the key's earlier secrets expire. */
  readonly oldValidUntil: number;
}

export interface KeyStatus {
  readonly key: Key;
  readonly state: "active" | "banned" | "expired" | "revoked";
  readonly lastUsedAt: number | null;
  /** Requests that were counted in this UTC minute and this UTC day. */
  readonly usedThisMinute: number;
  readonly usedToday: number;
  /** The secrets that can still be used, the oldest first. */
  readonly secrets: readonly SecretTimes[];
  /** The end of the ban that is in force; null if there is none. */
  readonly bannedUntil: number | null;
}

/** How long an old secret stays valid after a rotation, unless the operator chooses a time. */
export const defaultOverlapMs = dayMs;

/** Issues an API key. */
export async function issueKey(
  store: Keys,
  environment: Environment,
  terms: KeyTerms,
  by: By,
): Promise<IssuedKey> {
  return issue(store, environment, checkTerms(terms, by.now), "api", by);
}

export async function issueOperatorKey(
  store: Keys,
  environment: Environment,
  terms: OperatorTerms,
  by: By,
): Promise<IssuedKey> {
  return issue(store, environment, checkOperatorTerms(terms, by.now), "operator", by);
}

async function issue(
  { keys }: Keys,
  environment: Environment,
  terms: ReturnType<typeof checkTerms>,
  kind: KeyKind,
  by: By,
): Promise<IssuedKey> {
  const key = { id: generateKeyId(), ...terms, createdAt: by.now, revokedAt: null };
  const text = generateKeyText(environment, kind);
  const role = roleOf(key);
  const entry = auditEntry(by, "key.created", key.id, { ...terms, ...(role && { role }) });
  await keys.addKey(key, digestOf(text), entry);
  return { key, text };
}

/** Changes the given fields of a key. They take effect on the next request. */
export async function changeKey(
  { keys }: Keys,
  id: string,
  change: KeyChange,
  by: By,
  force = false,
): Promise<Key> {
  const entry = auditEntry(by, "key.changed", id, { ...change });
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const key = await getKey({ keys }, id);
    if (key.revokedAt !== null) throw revoked(id);
    const changed = { ...key, ...checkChange(key, change, by.now) };
    if (JSON.stringify(changed) === JSON.stringify(key)) return key;
    // Another operator may have changed another field in the meantime.
    const needsOther = !force && isLoss(key, changed, by.now);
    if (await keys.changeKey(key, changed, entry, needsOther)) return changed;
  }
  throw unavailable("busy");
}

/** Changes of one key at the same time. Each attempt fails only if another change succeeded. */
const attemptsMax = 20;

function revoked(id: string): ServiceError {
  return invalidRequest(`Key ${id} is revoked; issue a new one.`);
}

/** Adds a secret to a key. The old secrets stay valid for `overlapMs`. */
export async function rotateKey(
  { keys }: Keys,
  environment: Environment,
  id: string,
  by: By,
  overlapMs = defaultOverlapMs,
): Promise<RotatedKey> {
  const key = await getKey({ keys }, id);
  if (key.revokedAt !== null) throw revoked(id);
  if (!(overlapMs >= 0)) throw new InvalidField("overlap", "must not be negative");
  const text = generateKeyText(environment, kindOf(key));
  const oldValidUntil = by.now + overlapMs;
  const entry = auditEntry(by, "key.rotated", id, { oldValidUntil });
  await keys.addSecret(id, digestOf(text), by.now, oldValidUntil, entry);
  return { key, text, oldValidUntil };
}

/** Revokes a key. A key that is already revoked keeps the time of its first revocation. */
export async function revokeKey({ keys }: Keys, id: string, by: By, force = false): Promise<Key> {
  const key = await getKey({ keys }, id);
  const needsOther = !force && isLoss(key, { ...key, revokedAt: by.now }, by.now);
  await keys.revokeKey(id, by.now, auditEntry(by, "key.revoked", id), needsOther);
  return getKey({ keys }, id);
}

/** Whether it is an owner's for less long. A rotation is no loss: its result is a new secret of the key. */
function isLoss(before: Key, after: Key, now: number): boolean {
  const ownerUntil = (key: Key) =>
    roleOf(key) === "owner" && key.revokedAt === null ? (key.expiresAt ?? Infinity) : 0;
  return ownerUntil(before) > now && ownerUntil(after) < ownerUntil(before);
}

/** Ends a key's ban. Returns false if none was in force. */
export async function liftBan({ keys, usage }: KeysAndUsage, id: string, by: By): Promise<boolean> {
  await getKey({ keys }, id);
  return usage.liftBan(id, by.now, auditEntry(by, "ban.lifted", id));
}

/**
 * What the rate limiter of this process knows of a key. A service on SQLite stores its counts each
 * second, so the limiter may know more. On PostgreSQL, other instances may have counted more.
 */
export type FindUsage = (keyId: string) => Readonly<Usage> | undefined;

export async function listKeyStatuses(
  { keys, usage }: StatusReads,
  now: number,
  findUsage?: FindUsage,
): Promise<readonly KeyStatus[]> {
  const statusOf = await loadStatus({ keys, usage }, now, findUsage);
  return (await keys.listKeys()).map(statusOf);
}

export async function getKeyStatus(
  { keys, usage }: KeysAndUsage,
  now: number,
  id: string,
  findUsage?: FindUsage,
): Promise<KeyStatus> {
  const key = await getKey({ keys }, id);
  return (await loadStatus({ keys, usage }, now, findUsage))(key);
}

export async function getKey({ keys }: Keys, id: string): Promise<Key> {
  const key = await keys.findKey(id);
  if (!key) throw new ServiceError("not_found", `There is no key ${id}.`);
  return key;
}

async function loadStatus(
  { keys, usage }: StatusReads,
  now: number,
  findUsage: FindUsage = () => undefined,
): Promise<(key: Key) => KeyStatus> {
  const used = new Map((await usage.loadUsage()).map((row) => [row.keyId, row]));
  const bans = new Map((await usage.loadBans()).map((ban) => [ban.keyId, ban]));
  const secrets = Map.groupBy(await keys.listSecrets(), ({ keyId }) => keyId);
  return (key) => {
    const known = findUsage(key.id);
    const bannedUntil = endOfBan(bans.get(key.id), known, now);
    const counts = [used.get(key.id), known].filter((one) => one !== undefined);
    // Counts of a window only grow, so the larger one is the newer one.
    const largest = (numbers: readonly number[]) => Math.max(0, ...numbers);
    return {
      key,
      state: stateOf(key, bannedUntil !== null, now),
      // Stored as 0 if the key was never used.
      lastUsedAt: largest(counts.map(({ lastUsedAt }) => lastUsedAt)) || null,
      usedThisMinute: largest(
        counts.map(({ minuteStart, minuteCount }) =>
          now - minuteStart < minuteMs ? minuteCount : 0,
        ),
      ),
      usedToday: largest(
        counts.map(({ dayStart, dayCount }) => (now - dayStart < dayMs ? dayCount : 0)),
      ),
      secrets: (secrets.get(key.id) ?? []).filter(
        ({ expiresAt }) => callerOf(key, { digest: "", expiresAt }, now) !== undefined,
      ),
      bannedUntil,
    };
  };
}

/** The end of the ban that is in force. The limiter may know one that is not stored yet. */
function endOfBan(
  stored: Ban | undefined,
  known: Readonly<Usage> | undefined,
  now: number,
): number | null {
  const isNewer = known !== undefined && known.banStartedAt > (stored?.startedAt ?? 0);
  if (isNewer) return known.bannedUntil > now ? known.bannedUntil : null;
  return stored && isInForce(stored, now) ? stored.until : null;
}

/** A key that is banned and also revoked or expired is refused as such. */
function stateOf(key: Key, isBanned: boolean, now: number): KeyStatus["state"] {
  if (key.revokedAt !== null) return "revoked";
  if (key.expiresAt !== null && now >= key.expiresAt) return "expired";
  return isBanned ? "banned" : "active";
}
