import { isoOrNull } from "../values/times.ts";
import { type Key, kindOf, roleOf } from "./keys.ts";
import type { KeyStatus } from "./lifecycle.ts";

/**
 * Everything that operators can see of a key, as JSON. The command line and the operator API pick fields
 * from it. A key whose status was not read has no fields for it.
 */
export function keyJson({ key, ...status }: { readonly key: Key } & Partial<KeyStatus>) {
  const { id, name, plan, scopes } = key;
  const { perMinute, perDay } = key.limits;
  const { state, lastUsedAt = null, usedToday, secrets, bannedUntil = null } = status;
  return {
    ...{ id, name, plan, perMinute, perDay, scopes, state, usedToday },
    limits: { perMinute, perDay },
    kind: kindOf(key),
    role: roleOf(key) ?? null,
    createdAt: isoOrNull(key.createdAt),
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
    lastUsedAt: isoOrNull(lastUsedAt),
    bannedUntil: isoOrNull(bannedUntil),
    secrets: secrets?.map(({ createdAt, expiresAt }) => ({
      createdAt: isoOrNull(createdAt),
      expiresAt: isoOrNull(expiresAt),
    })),
  };
}
