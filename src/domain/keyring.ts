import type { KeyStore } from "./key-store.ts";
import type { Caller, Environment, Key, KeyKind, Secret } from "./keys.ts";
import { callerOf, digestOf, isKeyText, kindOf } from "./keys.ts";
import type { Clock, MaybePromise } from "./ports.ts";

export interface Keyring {
  /** Returns the caller of a valid key, or undefined. A cached key costs no query. */
  identify(text: string): MaybePromise<Caller | undefined>;
  /**
   * Returns the last known caller of a key, valid or not. Only for the headers of a response to a
   * request that could not be authenticated because the store is unavailable.
   */
  lastKnown(text: string): Caller | undefined;
  /** Clears the cache. Call after any key is issued, changed or revoked. */
  clear(): void;
}

type Found = { readonly key: Key; readonly secret: Secret } | undefined;

/**
 * Knows the keys of one kind. Caches valid keys by digest. Unknown keys are not cached: such a key may be issued before the next
 * request, and guesses must not fill the memory.
 */
export function createKeyring(
  store: Pick<KeyStore, "findSecret">,
  clock: Clock,
  environment: Environment,
  knownMax: number,
  kind: KeyKind = "api",
): Keyring {
  let known = new Map<string, Caller>();
  /** Callers from before the cache was last cleared, for `lastKnown`. */
  let former = new Map<string, Caller>();
  /** Counts calls of `clear`: a query that began before one must not be cached after it. */
  let generation = 0;

  function remember(digest: string, found: Found, readIn: number): Caller | undefined {
    const isOfKind = found && kindOf(found.key) === kind;
    const caller = isOfKind ? callerOf(found.key, found.secret, clock.now()) : undefined;
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
      if (!isKeyText(text, environment, kind)) return undefined;
      const readIn = generation;
      const found = store.findSecret(digest);
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
