import type { MaybePromise } from "../running/clock.ts";
import type { LimitDecision, Usage } from "./limits.ts";
import type { Limits } from "./plans.ts";

/** Admits or rejects requests of valid keys. */
export interface Limiter {
  take(keyId: string, limits: Limits): MaybePromise<LimitDecision>;
  /** The last known state of a key, for the headers of a response that could not count. */
  lastKnown(keyId: string, limits: Limits): LimitDecision;
  /**
   * What this process knows of a key's requests; undefined if nothing. Several processes count
   * together, so others may know more.
   */
  findUsage(keyId: string): Readonly<Usage> | undefined;
  /** Reads bans again. Call after keys or bans changed in the store. */
  refresh(): void;
  close(): Promise<void>;
}
