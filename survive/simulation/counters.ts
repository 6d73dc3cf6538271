// The counts of requests that several instances share, as the database keeps them.
import { correct, newUsage, type Usage } from "../../src/domain/limits/limits.ts";
import type { Limits } from "../../src/domain/limits/plans.ts";
import type {
  CountedUsage,
  SharedUsageStore,
  StrikeCount,
  TakeRequest,
} from "../../src/domain/usage/usage.ts";
import { dayMs, minuteMs } from "../../src/domain/values/times.ts";
import { call, never, type Process } from "./process.ts";
import type { World } from "./time.ts";

/** A process, and what the database has counted for it that it has neither used nor returned. */
export interface CountingProcess extends Process {
  readonly held: Map<string, number>;
}

export function hold(process: CountingProcess, keyId: string, count: number): number {
  const held = (process.held.get(keyId) ?? 0) + count;
  process.held.set(keyId, held);
  return held;
}

export function createCounters(world: World, onBan: (keyId: string) => void) {
  const usages = new Map<string, Usage>();
  /** Counted, but neither used nor returned by anybody, because a message or a process was lost. */
  const lost = new Map<string, number>();
  /** How many requests were counted, by key and the start of the minute. */
  const counted = new Map<string, number>();
  const lose = (keyId: string, count: number) =>
    void lost.set(keyId, (lost.get(keyId) ?? 0) + count);

  function usageOf(keyId: string, now: number): Usage {
    const usage = usages.get(keyId) ?? newUsage();
    usages.set(keyId, usage);
    correct(usage, now);
    return usage;
  }

  function take({ keyId, limits, wanted }: TakeRequest): CountedUsage {
    const now = Date.now();
    const usage = usageOf(keyId, now);
    const granted = count(usage, limits, wanted, now);
    const minute = `${keyId} ${usage.minuteStart}`;
    counted.set(minute, (counted.get(minute) ?? 0) + granted);
    return { usage: { ...usage }, now, granted };
  }

  function addStrikes({ keyId, minute, count }: StrikeCount): CountedUsage {
    const now = Date.now();
    const usage = usageOf(keyId, now);
    if (usage.strikesMinute === minute) usage.strikes += count;
    else if (usage.strikesMinute < minute) usage.strikes = count;
    usage.strikesMinute = Math.max(usage.strikesMinute, minute);
    return { usage: { ...usage }, now, granted: 0 };
  }

  return {
    usageOf: (keyId: string) => usages.get(keyId) ?? newUsage(),
    lostOf: (keyId: string) => lost.get(keyId) ?? 0,
    countedIn: (keyId: string, minuteStart: number) => counted.get(`${keyId} ${minuteStart}`) ?? 0,
    crash(process: CountingProcess): void {
      process.isAlive = false;
      for (const [keyId, count] of process.held) lose(keyId, count);
    },
    connect(process: CountingProcess): SharedUsageStore {
      return {
        async take(requests) {
          const counted = await call(
            world,
            process,
            () => new Map(requests.map((one) => [one.keyId, take(one)])),
            (unknown) => {
              for (const [keyId, { granted }] of unknown) lose(keyId, granted);
            },
          );
          for (const [keyId, { granted }] of counted) hold(process, keyId, granted);
          return counted;
        },
        async giveBack(returned) {
          if (!process.isAlive) return never;
          for (const { keyId, dayCount } of returned) {
            if (hold(process, keyId, -dayCount) < 0)
              world.fail("wrong", `${keyId} got back more than was counted`);
            // Until the database has them, they are missing.
            lose(keyId, dayCount);
          }
          await call(world, process, () => {
            for (const { keyId, minuteStart, minuteCount, dayStart, dayCount } of returned) {
              const usage = usages.get(keyId)!;
              lose(keyId, -dayCount);
              if (usage.minuteStart === minuteStart)
                usage.minuteCount = Math.max(0, usage.minuteCount - minuteCount);
              if (usage.dayStart === dayStart)
                usage.dayCount = Math.max(0, usage.dayCount - dayCount);
            }
          });
        },
        addStrikes: (strikes) =>
          call(world, process, () => new Map(strikes.map((one) => [one.keyId, addStrikes(one)]))),
        startBan: (keyId, startedAt, until, previousStart) =>
          call(world, process, () => {
            const usage = usageOf(keyId, Date.now());
            if (usage.banStartedAt !== previousStart) return false;
            onBan(keyId);
            Object.assign(usage, { banStartedAt: startedAt, bannedUntil: until, strikes: 0 });
            return true;
          }),
      };
    },
  };
}

/** Counts as `petstore_take` does. Returns how many requests it has counted. */
function count(usage: Usage, limits: Limits, wanted: number, now: number): number {
  const windows = [
    ["minute", minuteMs, limits.perMinute],
    ["day", dayMs, limits.perDay],
  ] as const;
  for (const [name, ms] of windows) {
    if (now - (now % ms) <= usage[`${name}Start`]) continue;
    usage[`${name}Start`] = now - (now % ms);
    usage[`${name}Count`] = 0;
    usage[`${name}ExceededAt`] = 0;
  }
  const left = Math.min(limits.perMinute - usage.minuteCount, limits.perDay - usage.dayCount);
  const granted = usage.bannedUntil > now ? 0 : Math.max(0, Math.min(wanted, left));
  for (const [name, , limit] of windows) {
    usage[`${name}Count`] += granted;
    if (granted < wanted && usage[`${name}Count`] >= limit && usage[`${name}ExceededAt`] === 0)
      usage[`${name}ExceededAt`] = Math.max(now, usage[`${name}Start`]);
  }
  if (granted > 0) usage.lastUsedAt = Math.max(usage.lastUsedAt, now);
  return granted;
}
