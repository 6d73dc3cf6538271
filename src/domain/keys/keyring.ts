import { hash } from "node:crypto";
import type { Clock, MaybePromise } from "../running/clock.ts";
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

/** The digest of a secret text. Stores keep it instead of the text. */
export function digestOf(text: string): string {
  return hash("sha256", text);
}

/** Finds the callers of secret texts: of keys, or of the tokens of sessions. */
export interface Keyring {
  /** Returns the caller of a valid text, or undefined. A cached text costs no query. */
  identify(text: string): MaybePromise<Caller | undefined>;
  /**
   * Returns the last known caller of a text, valid or not. Only for the headers of a response to a
   * request that could not be authenticated because the store is unavailable.
   */
  lastKnown(text: string): Caller | undefined;
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
    isWellFormed: (text) => isKeyText(text, environment, kind),
    find: store.findSecret,
    kind,
  });
}

/** Knows the sessions of operators by their tokens. A session ends with its key and its secret. */
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
  isWellFormed(text: string): boolean;
  /** What the store has under the digest of a text. */
  readonly find: (digest: string) => MaybePromise<Found | undefined>;
  /** Keys of the other kind are unknown. */
  readonly kind: KeyKind;
}

/** A secret, and the session that it opened if the text is the token of one. */
type Found = FoundSecret & Partial<FoundSession>;

/**
 * Caches callers by the digest of their text. Unknown texts are not cached: such a text may be issued
 * before the next request, and guesses must not fill the memory.
 */
function createCallerCache(
  clock: Clock,
  knownMax: number,
  { isWellFormed, find, kind }: CallerSource,
): Keyring {
  let known = new Map<string, Caller>();
  /** Callers from before the cache was last cleared, for `lastKnown`. */
  let former = new Map<string, Caller>();
  /** Counts calls of `clear`: a query that began before one must not be cached after it. */
  let generation = 0;

  function toCaller(found: Found | undefined): Caller | undefined {
    if (!found || kindOf(found.key) !== kind) return undefined;
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
    identify(text) {
      const digest = digestOf(text);
      const hit = known.get(digest);
      if (hit) return clock.now() < hit.expiresAt ? hit : undefined;
      if (!isWellFormed(text)) return undefined;
      const readIn = generation;
      const found = find(digest);
      return found instanceof Promise
        ? found.then((later) => remember(digest, later, readIn))
        : remember(digest, found, readIn);
    },
    lastKnown(text) {
      const digest = digestOf(text);
      return known.get(digest) ?? former.get(digest);
    },
    clear() {
      generation += 1;
      if (former.size + known.size > knownMax) former = known;
      else for (const [digest, caller] of known) former.set(digest, caller);
      known = new Map();
    },
  };
}
