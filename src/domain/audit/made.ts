import type { Once } from "./audit.ts";

/**
 * What requests with an idempotency key have made: keys, webhooks, pets, imports. It is stored in the
 * transaction that makes it, so a request that is sent twice makes nothing again. The ledger remembers
 * the keys of updates itself.
 */

/** What a request with an idempotency key has made. */
export interface Made {
  /** The digest of the request that used the key first. */
  readonly request: string;
  /** Null until it is made. */
  readonly id: string | null;
}

export interface MadeStore {
  findMade(key: string): Promise<Made | undefined>;
  /** Keeps the key of a request whose effect is outside the store, such as a file. False if the key is known. */
  reserveMade(once: Once, now: number): Promise<boolean>;
  /** Forgets a reserved key, because nothing was made. */
  releaseMade(once: Once): Promise<void>;
  /** Deletes keys from before this time, at most so many, the oldest first. Returns the number. */
  pruneMade(before: number, rowsMax: number): Promise<number>;
}
