import type { Caller, Environment, Key, Secret } from "./keys.ts";
import { callerOf, digestOf, isKeyText } from "./keys.ts";
import type { Clock, KeyStore, MaybePromise } from "./ports.ts";

export interface Keyring {
  /** Who this key text belongs to, or undefined. A known key costs no look-up. */
  identify(text: string): MaybePromise<Caller | undefined>;
  /**
   * Who the key belonged to when that was last known, for the headers of an answer that could not
   * find out; never to let anybody in.
   */
  recall(text: string): Caller | undefined;
  /** Keys were issued, changed or revoked: trust nothing that was known. */
  forget(): void;
}

interface Opened {
  readonly key: Key;
  readonly secret: Secret;
}

/**
 * Remembers the good keys seen lately, by digest. Only good ones: a key that is unknown now may
 * exist on the next request, and guesses must not fill the memory.
 */
export function createKeyring(
  store: Pick<KeyStore, "findSecret">,
  clock: Clock,
  environment: Environment,
  knownMax: number,
): Keyring {
  let known = new Map<string, Caller>();
  /** What was known before keys last changed. */
  let former = new Map<string, Caller>();
  // Counts `forget` calls, so that a look-up that began before one is not remembered after it.
  let generation = 0;

  function remember(digest: string, found: Opened | undefined, asked: number): Caller | undefined {
    const caller = found && callerOf(found.key, found.secret, clock.now());
    if (caller && asked === generation) {
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
      if (!isKeyText(text, environment)) return undefined;
      const asked = generation;
      const found = store.findSecret(digest);
      return found instanceof Promise
        ? found.then((later) => remember(digest, later, asked))
        : remember(digest, found, asked);
    },
    recall(text) {
      const digest = digestOf(text);
      return known.get(digest) ?? former.get(digest);
    },
    forget() {
      generation += 1;
      if (former.size + known.size > knownMax) former = known;
      else for (const [digest, caller] of known) former.set(digest, caller);
      known = new Map();
    },
  };
}
