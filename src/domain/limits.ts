import type { Limits } from "./plans.ts";

/**
 * The rate limit, whole. Two fixed windows, the UTC minute and the UTC day, are taken together: a
 * request is admitted only if both have room, and a refused one consumes nothing. Whoever keeps
 * asking in an exhausted window collects strikes, and enough strikes in one minute ban the key
 * for a while. Nothing here reads a clock or keeps state of its own.
 */

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

export interface BanRules {
  /** Refusals this soon after a window's first refusal are no strikes: they were under way. */
  readonly graceMs: number;
  /** A ban takes max(strikesMin, perMinute / strikesDivisor) strikes in one minute. */
  readonly strikesMin: number;
  readonly strikesDivisor: number;
  /** The first ban's length; each further one within `ladderMs` of the last doubles. */
  readonly banMs: number;
  readonly banMsMax: number;
  readonly ladderMs: number;
}

/** What one key has used. Times are milliseconds since 1970; 0 means never. */
export interface Usage {
  minuteStart: number;
  minuteCount: number;
  minuteRefusedAt: number;
  dayStart: number;
  dayCount: number;
  dayRefusedAt: number;
  strikesMinute: number;
  strikes: number;
  banStartedAt: number;
  bannedUntil: number;
  lastUsedAt: number;
}

export interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

export interface Verdict {
  readonly outcome: "admitted" | "limited" | "banned";
  /** True on the one request whose strike brought the ban. */
  readonly banBegan: boolean;
  /** The time from which a wait is counted. */
  readonly now: number;
  /** What the three X-RateLimit headers describe. */
  readonly binding: Window;
  readonly minute: Window;
  /** Null where only the minute is counted: requests without a valid key. */
  readonly day: Window | null;
}

export function newUsage(): Usage {
  return {
    minuteStart: 0,
    minuteCount: 0,
    minuteRefusedAt: 0,
    dayStart: 0,
    dayCount: 0,
    dayRefusedAt: 0,
    strikesMinute: 0,
    strikes: 0,
    banStartedAt: 0,
    bannedUntil: 0,
    lastUsedAt: 0,
  };
}

/** Asks for one request at `now`, which the caller never lets decrease. Moves `usage` forward. */
export function take(usage: Usage, limits: Limits, rules: BanRules, now: number): Verdict {
  roll(usage, now);
  if (now < usage.bannedUntil) return verdict("banned", usage, limits, now, false);
  if (usage.minuteCount < limits.perMinute && usage.dayCount < limits.perDay) {
    usage.minuteCount += 1;
    usage.dayCount += 1;
    usage.lastUsedAt = now;
    return verdict("admitted", usage, limits, now, false);
  }
  const banBegan = refuseOnce(usage, limits, rules, now);
  return verdict(banBegan ? "banned" : "limited", usage, limits, now, banBegan);
}

/** How a key stands at `now`, for the headers of an answer that took nothing from it. */
export function standing(usage: Usage, limits: Limits, now: number): Verdict {
  const rolled = { ...usage };
  roll(rolled, now);
  return verdict(now < usage.bannedUntil ? "banned" : "admitted", rolled, limits, now, false);
}

/** Whether a request at `now` is refused by what is known already; `usage` stays as it is. */
export function isRefused(usage: Usage, limits: Limits, now: number): boolean {
  return (
    now < usage.bannedUntil ||
    (now < usage.minuteStart + minuteMs && usage.minuteCount >= limits.perMinute) ||
    (now < usage.dayStart + dayMs && usage.dayCount >= limits.perDay)
  );
}

/** Opens the windows `now` lies in. A window that is ahead of `now` stays: none ever reopens. */
function roll(usage: Usage, now: number): void {
  const minuteStart = now - (now % minuteMs);
  if (minuteStart > usage.minuteStart) {
    usage.minuteStart = minuteStart;
    usage.minuteCount = 0;
    usage.minuteRefusedAt = 0;
  }
  const dayStart = now - (now % dayMs);
  if (dayStart > usage.dayStart) {
    usage.dayStart = dayStart;
    usage.dayCount = 0;
    usage.dayRefusedAt = 0;
  }
}

/** Books a refusal; tells whether it was the strike that bans. */
function refuseOnce(usage: Usage, limits: Limits, rules: BanRules, now: number): boolean {
  const window = usage.dayCount >= limits.perDay ? "dayRefusedAt" : "minuteRefusedAt";
  if (usage[window] === 0) {
    usage[window] = now;
    return false;
  }
  if (now - usage[window] <= rules.graceMs) return false;
  return strike(usage, limits, rules, now, 1);
}

/** Adds strikes at `now` and bans when they are enough. */
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

/** The last ban's length is its place on the ladder: the next one doubles it. */
function nextBanMs(usage: Usage, rules: BanRules, now: number): number {
  if (usage.banStartedAt === 0 || now - usage.banStartedAt > rules.ladderMs) return rules.banMs;
  return Math.min(2 * (usage.bannedUntil - usage.banStartedAt), rules.banMsMax);
}

/** Forgives a key: no ban, no strikes, back to the foot of the ladder. */
export function lift(usage: Usage): void {
  usage.strikes = 0;
  usage.banStartedAt = 0;
  usage.bannedUntil = 0;
}

function verdict(
  outcome: Verdict["outcome"],
  usage: Usage,
  limits: Limits,
  now: number,
  banBegan: boolean,
): Verdict {
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
    // No window may seem to open before the ban ends.
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

/** The exhausted window, the later reset if both are; otherwise the one with less left. */
function bindingWindow(minute: Window, day: Window): Window {
  if (day.remaining === 0) return day;
  return day.remaining < minute.remaining ? day : minute;
}
