import type { Clock, MaybePromise } from "../running/clock.ts";
import type { Caller } from "./keys.ts";
import { digestOf } from "./keys.ts";

/** Finds the callers of secret texts, such as keys and the tokens of sessions. */
export interface CallerCache {
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

export interface CallerSource {
  /** Checks the form, so that a typing error costs no query. */
  isWellFormed(text: string): boolean;
  /** The caller whose text has this digest, if the text is valid now. */
  find(digest: string): MaybePromise<Caller | undefined>;
}

/**
 * Caches callers by the digest of their text. Unknown texts are not cached: such a text may be issued
 * before the next request, and guesses must not fill the memory.
 */
export function createCallerCache(
  { isWellFormed, find }: CallerSource,
  clock: Clock,
  knownMax: number,
): CallerCache {
  let known = new Map<string, Caller>();
  /** Callers from before the cache was last cleared, for `lastKnown`. */
  let former = new Map<string, Caller>();
  /** Counts calls of `clear`: a query that began before one must not be cached after it. */
  let generation = 0;

  function remember(digest: string, caller: Caller | undefined, readIn: number) {
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
