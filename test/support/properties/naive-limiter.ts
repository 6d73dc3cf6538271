import type { BanRules } from "../../../src/domain/limits/limits.ts";
import type { Limits } from "../../../src/domain/limits/plans.ts";
import type { SavedUsage } from "../../../src/domain/usage/usage.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

export interface NaiveVerdict {
  readonly outcome: "admitted" | "limited" | "banned";
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

/** A clock that is set back by less changes no window. */
const setBackMsMax = 10_000;

interface NaiveBan {
  readonly from: number;
  readonly until: number;
  isLifted: boolean;
}

/** The window of a minute or a day, and the times of all requests that count in it. */
interface NaiveWindow {
  start: number;
  admitted: number[];
  refused: number[];
}

/**
 * The rate limit as its rules are written, without regard to memory or time: it keeps every request
 * and counts them again for every decision.
 */
export function createNaiveLimiter({ perMinute, perDay }: Limits, rules: BanRules) {
  let now = 0;
  let minute: NaiveWindow = { start: 0, admitted: [], refused: [] };
  let day: NaiveWindow = { start: 0, admitted: [], refused: [] };
  let strikes: number[] = [];
  let ban: NaiveBan | undefined;
  const storedBans: NaiveBan[] = [];

  const startOf = (windowMs: number) => Math.floor(now / windowMs) * windowMs;
  const strikesMinute = () => Math.max(0, ...strikes);

  /** What a clock that was ahead has started becomes current. Then the windows of the clock begin. */
  function moveTo(clock: number): void {
    now = clock;
    const isAhead = (time: number) => time > now + setBackMsMax;
    if ([minute.start, strikesMinute(), ban?.from ?? 0].some(isAhead)) {
      minute = { ...minute, start: Math.min(minute.start, startOf(minuteMs)), refused: [] };
      day = { ...day, start: Math.min(day.start, startOf(dayMs)), refused: [] };
      strikes = [];
      if (ban && isAhead(ban.from)) ban = undefined;
    }
    if (startOf(minuteMs) > minute.start) {
      minute = { start: startOf(minuteMs), admitted: [], refused: [] };
    }
    if (startOf(dayMs) > day.start) day = { start: startOf(dayMs), admitted: [], refused: [] };
  }

  function inBan({ until }: NaiveBan): NaiveVerdict {
    return { outcome: "banned", limit: perMinute, remaining: 0, resetAt: until };
  }

  function decision(outcome: "admitted" | "limited"): NaiveVerdict {
    const verdicts = [
      { limit: perMinute, used: minute.admitted.length, resetAt: minute.start + minuteMs },
      { limit: perDay, used: day.admitted.length, resetAt: day.start + dayMs },
    ].map(({ limit, used, resetAt }) => ({ limit, remaining: limit - used, resetAt }));
    const exhausted = verdicts.filter(({ remaining }) => remaining === 0).at(-1);
    const [first, second] = verdicts;
    const tighter = second!.remaining < first!.remaining ? second! : first!;
    return { outcome, ...(exhausted ?? tighter) };
  }

  /** A rejection that comes after the grace time of its window is a strike. */
  function refuse(): NaiveVerdict {
    const { refused } = day.admitted.length >= perDay ? day : minute;
    refused.push(now);
    if (refused.length === 1 || now - refused[0]! <= rules.graceMs) return decision("limited");
    const current = Math.max(startOf(minuteMs), strikesMinute());
    strikes = [...strikes.filter((at) => at === current), current];
    if (strikes.length < Math.max(rules.strikesMin, perMinute / rules.strikesDivisor)) {
      return decision("limited");
    }
    const isRecent = ban && now - ban.from <= rules.escalationMs;
    const lengthMs = isRecent
      ? Math.min(2 * (ban!.until - ban!.from), rules.banMsMax)
      : rules.banMs;
    ban = { from: now, until: now + lengthMs, isLifted: false };
    // A key has one stored ban per start.
    if (!storedBans.some(({ from }) => from === now)) storedBans.push(ban);
    strikes = [];
    return inBan(ban);
  }

  return {
    take(clock: number): NaiveVerdict {
      moveTo(clock);
      if (ban && now < ban.until) return inBan(ban);
      if (minute.admitted.length >= perMinute || day.admitted.length >= perDay) return refuse();
      minute.admitted.push(now);
      day.admitted.push(now);
      return decision("admitted");
    },
    /** Loses what is not stored: strikes, and the times of rejections. `saved` are the windows. */
    restart(clock: number, saved: SavedUsage | undefined): void {
      const requests = (count = 0) => Array<number>(count).fill(0);
      minute = {
        start: saved?.minuteStart ?? 0,
        admitted: requests(saved?.minuteCount),
        refused: [],
      };
      day = { start: saved?.dayStart ?? 0, admitted: requests(saved?.dayCount), refused: [] };
      strikes = [];
      const begun = storedBans.filter(({ from }) => from <= clock + setBackMsMax);
      const last = begun.sort((one, other) => one.from - other.from).at(-1);
      ban = last?.isLifted ? undefined : last;
    },
    /** Lifts all bans that have not ended. */
    lift(): void {
      for (const one of storedBans) one.isLifted ||= one.until > now;
      if (!ban || !storedBans.some(({ from, isLifted }) => from === ban!.from && isLifted)) return;
      ban = undefined;
      strikes = [];
    },
  };
}
