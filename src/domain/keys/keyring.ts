import { hash } from "node:crypto";
import { andThen, type Clock, type MaybePromise } from "../running/clock.ts";
import {
  type Caller,
  callerOf,
  type Environment,
  isKeyText,
  isToken,
  type KeyKind,
  kindOf,
} from "./keys.ts";
import type { FoundSecret, FoundSession, KeyStore, SessionStore } from "./store.ts";

/** The digest of a secret. Stores keep it instead of the secret. */
export function digestOf(secret: string): string {
  return hash("sha256", secret);
}

/** Finds the caller for a secret: that of a key, or the token of a session. */
export interface Keyring {
  /** Returns the caller, or undefined if the secret is not valid. A cached secret costs no query. */
  identify(secret: string): MaybePromise<Caller | undefined>;
  /**
   * Returns the last known caller for a secret, even if it is no longer valid. Only for the headers of a
   * response to a request that could not be authenticated because the store is unavailable.
   */
  lastKnown(secret: string): Caller | undefined;
  /** Changes whenever a caller may not be valid any more, except by expiry. */
  version(): number;
  /** Clears the cache. Call after any key or session is added, changed or ended. */
  clear(): void;
}

/** Knows the keys of one kind. */
export function createKeyring(
  store: Pick<KeyStore, "findSecret">,
  clock: Clock,
  environment: Environment,
  knownMax: number,
  kind: KeyKind = "api",
): Keyring {
  return createCallerCache(clock, knownMax, {
    isWellFormed: (secret) => isKeyText(secret, environment, kind),
    find: store.findSecret,
    kind,
  });
}

/** Knows the sessions of operators by their tokens. A session ends with its key or its secret. */
export function createSessionKeyring(
  store: Pick<SessionStore, "findSession">,
  clock: Clock,
  knownMax: number,
): Keyring {
  return createCallerCache(clock, knownMax, {
    isWellFormed: isToken,
    find: store.findSession,
    kind: "operator",
  });
}

interface CallerSource {
  /** Checks the form, so that a typing error costs no query. */
  isWellFormed(secret: string): boolean;
  /** Finds what the store has for the digest of a secret. */
  readonly find: (digest: string) => MaybePromise<Found | undefined>;
  /** Keys of the other kind are unknown. */
  readonly kind: KeyKind;
}

/** A secret. If it is the token of a session, also the session. */
type Found = FoundSecret & Partial<FoundSession>;

/**
 * Caches callers by the digest of their secret. Unknown secrets are not cached: one may be issued before
 * the next request, and guesses must not fill the memory.
 */
function createCallerCache(
  clock: Clock,
  knownMax: number,
  { isWellFormed, find, kind }: CallerSource,
): Keyring {
  let known = new Map<string, Caller>();
  /** Callers from before the cache was last cleared, for `lastKnown`. */
  let former = new Map<string, Caller>();
  /** Counts calls of `clear`: a result that was read before such a call must not be cached after it. */
  let generation = 0;

  function toCaller(found: Found | undefined): Caller | undefined {
    if (!found || kindOf(found.key) !== kind) return undefined;
    // Keys and sessions expire by the clock of the process, which is never compared with the times of rows.
    const now = clock.now();
    const caller = callerOf(found.key, found.secret, now);
    const expiresAt = Math.min(caller?.expiresAt ?? 0, found.session?.expiresAt ?? Infinity);
    return caller && now < expiresAt ? { ...caller, expiresAt } : undefined;
  }

  function remember(digest: string, found: Found | undefined, readIn: number) {
    const caller = toCaller(found);
    if (caller && readIn === generation) {
      if (known.size >= knownMax) known.clear();
      known.set(digest, caller);
    }
    former.delete(digest);
    return caller;
  }

  return {
    identify(secret) {
      const digest = digestOf(secret);
      const hit = known.get(digest);
      if (hit) return clock.now() < hit.expiresAt ? hit : undefined;
      if (!isWellFormed(secret)) return undefined;
      const readIn = generation;
      return andThen(find(digest), (found) => remember(digest, found, readIn));
    },
    lastKnown(secret) {
      const digest = digestOf(secret);
      return known.get(digest) ?? former.get(digest);
    },
    version: () => generation,
    clear() {
      generation += 1;
      if (former.size + known.size > knownMax) former = known;
      else for (const [digest, caller] of known) former.set(digest, caller);
      known = new Map();
    },
  };
}
