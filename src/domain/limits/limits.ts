import type { MaybePromise } from "../running/clock.ts";
import { dayMs, minuteMs } from "../values/times.ts";
import type { Limits } from "./plans.ts";

/**
 * The rules of the rate limit. A request is admitted only if both windows, the UTC minute and the
 * UTC day, have room; a rejected request consumes nothing. Requests in an exhausted window are
 * strikes, and enough strikes in one minute ban the key for some time. This file reads no clock and
 * keeps no state.
 *
 * A clock that is set back a little reopens no window. A window or a ban that starts further in the future
 * was started by a clock that was ahead and has been corrected: such a window becomes the current one and
 * keeps its count, and such a ban ends.
 */

/** How far a clock may be set back without a correction: more than usual steps of a time service. */
export const setBackMsMax = 10_000;

export interface BanRules {
  /** Rejections this soon after the first one in a window are not strikes: they were under way. */
  readonly graceMs: number;
  /** max(strikesMin, perMinute / strikesDivisor) strikes in one minute start a ban. */
  readonly strikesMin: number;
  readonly strikesDivisor: number;
  /** The length of the first ban. Each ban within `escalationMs` of the last one takes twice as long. */
  readonly banMs: number;
  readonly banMsMax: number;
  readonly escalationMs: number;
}

export interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

export interface LimitDecision {
  readonly outcome: "admitted" | "limited" | "banned";
  /** True only for the request whose strike started the ban. */
  readonly banBegan: boolean;
  /** The time of the decision. */
  readonly now: number;
  /** The window that the X-RateLimit headers describe. */
  readonly binding: Window;
  readonly minute: Window;
  /** Null for requests without a valid key, of which only the minute is counted. */
  readonly day: Window | null;
}

/** The requests, strikes and ban of one key. Times are milliseconds since 1970; 0 means never. */
export type Usage = ReturnType<typeof newUsage>;

export function newUsage() {
  return {
    minuteStart: 0,
    minuteCount: 0,
    minuteExceededAt: 0,
    dayStart: 0,
    dayCount: 0,
    dayExceededAt: 0,
    strikesMinute: 0,
    strikes: 0,
    banStartedAt: 0,
    bannedUntil: 0,
    lastUsedAt: 0,
  };
}

/** Counts one request and updates `usage`. */
export function take(usage: Usage, limits: Limits, rules: BanRules, now: number): LimitDecision {
  roll(usage, now);
  if (now < usage.bannedUntil) return decision("banned", usage, limits, now, false);
  if (usage.minuteCount < limits.perMinute && usage.dayCount < limits.perDay) {
    usage.minuteCount += 1;
    usage.dayCount += 1;
    usage.lastUsedAt = now;
    return decision("admitted", usage, limits, now, false);
  }
  const banBegan = countRejection(usage, limits, rules, now);
  return decision(banBegan ? "banned" : "limited", usage, limits, now, banBegan);
}

/** The state of a key at `now`, for the headers of a response that did not count a request. */
export function limitState(usage: Usage, limits: Limits, now: number): LimitDecision {
  const rolled = { ...usage };
  roll(rolled, now);
  return decision(now < rolled.bannedUntil ? "banned" : "admitted", rolled, limits, now, false);
}

/**
 * Returns true if a request at `now` would be rejected. Does not change `usage`. False for usage that
 * must be corrected first.
 */
export function isExhausted(usage: Usage, limits: Limits, now: number): boolean {
  if (isAhead(usage, now)) return false;
  return (
    now < usage.bannedUntil ||
    (now < usage.minuteStart + minuteMs && usage.minuteCount >= limits.perMinute) ||
    (now < usage.dayStart + dayMs && usage.dayCount >= limits.perDay)
  );
}

/** Whether a clock that was ahead has started a window or the ban. */
export function isAhead(usage: Readonly<Usage>, now: number): boolean {
  const { minuteStart, strikesMinute, banStartedAt } = usage;
  return Math.max(minuteStart, strikesMinute, banStartedAt) > now + setBackMsMax;
}

/**
 * Corrects what a clock that was ahead has started. Otherwise a client would wait until the clock
 * reaches that time again.
 */
export function correct(usage: Usage, now: number): void {
  if (!isAhead(usage, now)) return;
  usage.minuteStart = Math.min(usage.minuteStart, now - (now % minuteMs));
  usage.dayStart = Math.min(usage.dayStart, now - (now % dayMs));
  usage.minuteExceededAt = 0;
  usage.dayExceededAt = 0;
  usage.lastUsedAt = Math.min(usage.lastUsedAt, now);
  usage.strikesMinute = 0;
  usage.strikes = 0;
  if (usage.banStartedAt > now + setBackMsMax) lift(usage);
}

/** Starts the windows that contain `now`. A window that starts a little later stays, so none starts twice. */
function roll(usage: Usage, now: number): void {
  correct(usage, now);
  const minuteStart = now - (now % minuteMs);
  if (minuteStart > usage.minuteStart) {
    usage.minuteStart = minuteStart;
    usage.minuteCount = 0;
    usage.minuteExceededAt = 0;
  }
  const dayStart = now - (now % dayMs);
  if (dayStart > usage.dayStart) {
    usage.dayStart = dayStart;
    usage.dayCount = 0;
    usage.dayExceededAt = 0;
  }
}

/** Counts a rejection. Returns true if it starts a ban. */
function countRejection(usage: Usage, limits: Limits, rules: BanRules, now: number): boolean {
  const window = usage.dayCount >= limits.perDay ? "dayExceededAt" : "minuteExceededAt";
  if (usage[window] === 0) {
    usage[window] = now;
    return false;
  }
  if (now - usage[window] <= rules.graceMs) return false;
  return strike(usage, limits, rules, now, 1);
}

/** Adds strikes at `now`. Returns true if they start a ban. */
export function strike(
  usage: Usage,
  limits: Limits,
  rules: BanRules,
  now: number,
  count: number,
): boolean {
  const minute = now - (now % minuteMs);
  if (minute > usage.strikesMinute) {
    usage.strikesMinute = minute;
    usage.strikes = 0;
  }
  usage.strikes += count;
  if (usage.strikes < strikesForBan(limits, rules)) return false;
  const lengthMs = nextBanMs(usage, rules, now);
  usage.strikes = 0;
  usage.banStartedAt = now;
  usage.bannedUntil = now + lengthMs;
  return true;
}

export function strikesForBan(limits: Limits, rules: BanRules): number {
  return Math.max(rules.strikesMin, limits.perMinute / rules.strikesDivisor);
}

/** Doubles the length of the last ban if that was recent. */
function nextBanMs(usage: Usage, rules: BanRules, now: number): number {
  if (usage.banStartedAt === 0 || now - usage.banStartedAt > rules.escalationMs) return rules.banMs;
  return Math.min(2 * (usage.bannedUntil - usage.banStartedAt), rules.banMsMax);
}

/** Ends a ban and forgets strikes and earlier bans. The next ban is a first one. */
export function lift(usage: Usage): void {
  usage.strikes = 0;
  usage.banStartedAt = 0;
  usage.bannedUntil = 0;
}

function decision(
  outcome: LimitDecision["outcome"],
  usage: Usage,
  limits: Limits,
  now: number,
  banBegan: boolean,
): LimitDecision {
  const minute: Window = {
    limit: limits.perMinute,
    remaining: Math.max(0, limits.perMinute - usage.minuteCount),
    resetAt: usage.minuteStart + minuteMs,
  };
  const day: Window = {
    limit: limits.perDay,
    remaining: Math.max(0, limits.perDay - usage.dayCount),
    resetAt: usage.dayStart + dayMs,
  };
  if (outcome === "banned") {
    // No header may announce a window that opens before the ban ends.
    const { bannedUntil } = usage;
    const binding = { limit: limits.perMinute, remaining: 0, resetAt: bannedUntil };
    return {
      outcome,
      banBegan,
      now,
      binding,
      minute: { ...minute, remaining: 0, resetAt: Math.max(minute.resetAt, bannedUntil) },
      day: { ...day, resetAt: Math.max(day.resetAt, bannedUntil) },
    };
  }
  return { outcome, banBegan, now, binding: bindingWindow(minute, day), minute, day };
}

/** The exhausted window, or the one with the later reset if both are; else the one with less left. */
function bindingWindow(minute: Window, day: Window): Window {
  if (day.remaining === 0) return day;
  return day.remaining < minute.remaining ? day : minute;
}

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
