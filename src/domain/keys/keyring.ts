import type { Clock } from "../running/clock.ts";
import { type CallerCache, createCallerCache } from "./caller-cache.ts";
import {
  type Caller,
  callerOf,
  type Environment,
  isKeyText,
  type KeyKind,
  kindOf,
} from "./keys.ts";
import { type FoundSession, isToken } from "./sessions.ts";
import type { FoundSecret, KeyStore, SessionStore } from "./store.ts";

/** Knows the callers of keys. */
export type Keyring = CallerCache;

/** Knows the keys of one kind. */
export function createKeyring(
  store: Pick<KeyStore, "findSecret">,
  clock: Clock,
  environment: Environment,
  knownMax: number,
  kind: KeyKind = "api",
): Keyring {
  const toCaller = (found: FoundSecret | undefined): Caller | undefined =>
    found && kindOf(found.key) === kind
      ? callerOf(found.key, found.secret, clock.now())
      : undefined;
  return createCallerCache(
    {
      isWellFormed: (text) => isKeyText(text, environment, kind),
      find(digest) {
        const found = store.findSecret(digest);
        return found instanceof Promise ? found.then(toCaller) : toCaller(found);
      },
    },
    clock,
    knownMax,
  );
}

/** Knows the sessions of operators by their tokens. A session ends with its key and its secret. */
export function createSessionKeyring(
  store: Pick<SessionStore, "findSession">,
  clock: Clock,
  knownMax: number,
): Keyring {
  function toCaller(found: FoundSession | undefined): Caller | undefined {
    if (!found || kindOf(found.key) !== "operator") return undefined;
    const { key, secret, session } = found;
    const now = clock.now();
    const caller = callerOf(key, secret, now);
    if (!caller || now >= session.expiresAt) return undefined;
    return { ...caller, expiresAt: Math.min(caller.expiresAt, session.expiresAt) };
  }
  return createCallerCache(
    {
      isWellFormed: isToken,
      find(digest) {
        const found = store.findSession(digest);
        return found instanceof Promise ? found.then(toCaller) : toCaller(found);
      },
    },
    clock,
    knownMax,
  );
}
