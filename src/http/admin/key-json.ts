import { kindOf } from "../../domain/keys/keys.ts";
import type { KeyStatus } from "../../domain/keys/lifecycle.ts";
import { dayMs, minuteMs } from "../../domain/limits/limits.ts";
import { isoOrNull } from "./times.ts";

/** A key as operators see it at `now`. */
export function describeKey(status: KeyStatus, now: number) {
  const { key, state, lastUsedAt, bannedUntil, usedThisMinute, usedToday, secrets } = status;
  const { perMinute, perDay } = key.limits;
  const kind = kindOf(key);
  return {
    id: key.id,
    name: key.name,
    kind,
    plan: kind === "operator" ? null : key.plan,
    limits: { perMinute, perDay },
    scopes: key.scopes,
    state,
    createdAt: isoOrNull(key.createdAt),
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
    lastUsedAt: isoOrNull(lastUsedAt),
    bannedUntil: isoOrNull(bannedUntil),
    minute: { used: usedThisMinute, limit: perMinute, resetsAt: endOf(minuteMs, now) },
    day: { used: usedToday, limit: perDay, resetsAt: endOf(dayMs, now) },
    secrets: secrets.map(({ createdAt, expiresAt }) => ({
      createdAt: isoOrNull(createdAt),
      expiresAt: isoOrNull(expiresAt),
    })),
  };
}

/** The end of the window that contains `now`. */
function endOf(windowMs: number, now: number): string {
  return new Date(now - (now % windowMs) + windowMs).toISOString();
}
