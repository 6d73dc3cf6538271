import type { Caller, Environment, Key, Secret } from "./keys.ts";
import { callerOf, digestOf, isKeyText } from "./keys.ts";
import type { Clock, KeyStore, Soon } from "./ports.ts";

export interface Keyring {
  /** Who this key text belongs to, or undefined. A known key costs no look-up. */
  identify(text: string): Soon<Caller | undefined>;
  /** Keys were issued, changed or revoked: forget what was known. */
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
  const known = new Map<string, Caller>();
  // Counts `forget` calls, so that a look-up that began before one is not remembered after it.
  let generation = 0;

  function remember(digest: string, found: Opened | undefined, asked: number): Caller | undefined {
    const caller = found && callerOf(found.key, found.secret, clock.now());
    if (caller && asked === generation) {
      if (known.size >= knownMax) known.clear();
      known.set(digest, caller);
    }
    return caller;
  }

  return {
    identify(text) {
      const digest = digestOf(text);
      const hit = known.get(digest);
      if (hit) return clock.now() < hit.goodUntil ? hit : undefined;
      if (!isKeyText(text, environment)) return undefined;
      const asked = generation;
      const found = store.findSecret(digest);
      return found instanceof Promise
        ? found.then((later) => remember(digest, later, asked))
        : remember(digest, found, asked);
    },
    forget() {
      generation += 1;
      known.clear();
    },
  };
}
