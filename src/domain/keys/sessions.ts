import { type Actor, auditEntry } from "../audit/audit.ts";
import { digestOf } from "./keyring.ts";
import { generateToken } from "./keys.ts";
import type { SessionStore } from "./store.ts";

/**
 * Sessions of the console. An operator signs in with a key and gets a token, which the browser keeps
 * as a cookie. The store has only a digest of the token. A session ends after
 * `sessionMs` by the clock of the process, or with the key or the secret that opened it.
 */

export const sessionMs = 12 * 60 * 60 * 1_000;

/** How many sessions a key can have at the same time. A new one ends the oldest. */
export const sessionsMax = 100;

/** Opens a session for the key with this secret, which must be valid. Every session has a new token. */
export async function startSession(
  sessions: Pick<SessionStore, "addSession">,
  now: number,
  actor: Actor,
  keyText: string,
) {
  const token = generateToken();
  const expiresAt = now + sessionMs;
  const digests = { digest: digestOf(token), secretDigest: digestOf(keyText) };
  const entry = auditEntry({ actor, now }, "session.started", actor.keyId);
  const session = { ...digests, createdAt: now, expiresAt };
  await sessions.addSession(session, sessionsMax - 1, entry);
  return { token, expiresAt };
}

export async function endSession(
  sessions: Pick<SessionStore, "removeSession">,
  now: number,
  actor: Actor,
  token: string,
): Promise<void> {
  const entry = auditEntry({ actor, now }, "session.ended", actor.keyId);
  await sessions.removeSession(digestOf(token), entry);
}
