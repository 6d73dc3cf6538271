import type { AuditEntry } from "../audit/audit.ts";
import type { Usage } from "../limits/limits.ts";
import type { Limits } from "../limits/plans.ts";
import type { Clock } from "../running/clock.ts";

/** What a store keeps of the requests and bans of a key. */

export interface Ban {
  readonly keyId: string;
  readonly startedAt: number;
  readonly until: number;
  readonly liftedAt: number | null;
}

export function isInForce({ until, liftedAt }: Ban, now: number): boolean {
  return liftedAt === null && until > now;
}

export type SavedUsage = Pick<
  Usage,
  "minuteStart" | "minuteCount" | "dayStart" | "dayCount" | "lastUsedAt"
> & { readonly keyId: string };

/** A request to count requests of one key. */
export interface TakeRequest {
  readonly keyId: string;
  readonly limits: Limits;
  readonly wanted: number;
}

/** A key's usage as the database counts it, and the time by which it decided. */
export interface CountedUsage {
  readonly usage: Usage;
  readonly now: number;
  readonly granted: number;
}

/**
 * Requests of one key that were counted and not admitted, and the windows in which they count. The day
 * includes requests of earlier minutes.
 */
export type ReturnedRequests = Readonly<Omit<SavedUsage, "lastUsedAt">>;

/** Strikes of one key in one minute. */
export interface StrikeCount {
  readonly keyId: string;
  readonly minute: number;
  readonly count: number;
}

/** Stores request counts and bans, so that they survive a restart. */
export interface UsageStore {
  loadUsage(): Promise<readonly SavedUsage[]>;
  saveUsage(rows: readonly SavedUsage[]): Promise<void>;
  /**
   * The latest ban of every key that has one. Without bans that begin in the future: a clock that was
   * ahead began them.
   */
  loadBans(): Promise<readonly Ban[]>;
  saveBan(ban: Ban): Promise<void>;
  /** Ends every ban of a key. Returns false, and adds no entry, if none was in force. */
  liftBan(keyId: string, now: number, entry: AuditEntry): Promise<boolean>;
}

/** Counts requests in a database that several instances share. Each call is one transaction. */
export interface SharedUsageStore {
  /** Replaces the database's clock, so that tests can move the time. */
  readonly clock?: Clock | undefined;
  /** Counts as many requests as each key wants, or as many as it has left. */
  take(requests: readonly TakeRequest[]): Promise<ReadonlyMap<string, CountedUsage>>;
  /** Removes requests from the counts of their windows, unless those are over. */
  giveBack(returned: readonly ReturnedRequests[]): Promise<void>;
  /** Adds strikes to those that other instances counted. */
  addStrikes(strikes: readonly StrikeCount[]): Promise<ReadonlyMap<string, CountedUsage>>;
  /** Starts a ban. Returns false if another instance has started one since `previousStart`. */
  startBan(
    keyId: string,
    startedAt: number,
    until: number,
    previousStart: number,
  ): Promise<boolean>;
}
