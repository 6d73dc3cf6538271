import type { BanRules } from "../../../src/domain/limits.ts";
import type { Limits } from "../../../src/domain/plans.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

export interface NaiveVerdict {
  readonly outcome: "admitted" | "limited" | "banned";
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

/**
 * The rate limit as its rules are written, without regard to memory or time: it keeps every request
 * and counts them again for every decision.
 */
export function createNaiveLimiter({ perMinute, perDay }: Limits, rules: BanRules) {
  let now = 0;
  const admitted: number[] = [];
  let refusals: { window: string; at: number }[] = [];
  let strikes: number[] = [];
  let bans: { from: number; until: number }[] = [];

  const minuteOf = (time: number) => Math.floor(time / minuteMs) * minuteMs;
  const dayOf = (time: number) => Math.floor(time / dayMs) * dayMs;
  const usedSince = (start: number) => admitted.filter((at) => at >= start).length;

  function inBan(until: number): NaiveVerdict {
    return { outcome: "banned", limit: perMinute, remaining: 0, resetAt: until };
  }

  function decision(outcome: "admitted" | "limited"): NaiveVerdict {
    const minute = {
      limit: perMinute,
      remaining: perMinute - usedSince(minuteOf(now)),
      resetAt: minuteOf(now) + minuteMs,
    };
    const day = {
      limit: perDay,
      remaining: perDay - usedSince(dayOf(now)),
      resetAt: dayOf(now) + dayMs,
    };
    const exhausted = [minute, day].filter(({ remaining }) => remaining === 0).at(-1);
    return { outcome, ...(exhausted ?? (day.remaining < minute.remaining ? day : minute)) };
  }

  /** A rejection that comes after the grace time of its window is a strike. */
  function refuse(): NaiveVerdict {
    const window =
      usedSince(dayOf(now)) >= perDay ? `day ${dayOf(now)}` : `minute ${minuteOf(now)}`;
    const first = refusals.find((refusal) => refusal.window === window);
    refusals.push({ window, at: now });
    if (!first || now - first.at <= rules.graceMs) return decision("limited");
    strikes.push(now);
    const recent = strikes.filter((at) => at >= minuteOf(now)).length;
    if (recent < Math.max(rules.strikesMin, perMinute / rules.strikesDivisor)) {
      return decision("limited");
    }
    const last = bans.at(-1);
    const isRecent = last && now - last.from <= rules.escalationMs;
    const lengthMs = isRecent
      ? Math.min(2 * (last.until - last.from), rules.banMsMax)
      : rules.banMs;
    bans.push({ from: now, until: now + lengthMs });
    strikes = [];
    return inBan(now + lengthMs);
  }

  return {
    /** The limiter's time, which never goes back. */
    now: () => now,
    take(clock: number): NaiveVerdict {
      now = Math.max(now, clock);
      const ban = bans.find(({ until }) => now < until);
      if (ban) return inBan(ban.until);
      if (usedSince(minuteOf(now)) >= perMinute || usedSince(dayOf(now)) >= perDay) return refuse();
      admitted.push(now);
      return decision("admitted");
    },
    /** Loses what is not stored: strikes, and the time of the first rejection. */
    restart(): void {
      now = admitted.at(-1) ?? 0;
      refusals = [];
      strikes = [];
    },
    /** Forgets all bans if one is in force. */
    lift(): void {
      if ((bans.at(-1)?.until ?? 0) <= now) return;
      bans = [];
      strikes = [];
    },
  };
}
