import { Refusal } from "../domain/errors.ts";
import {
  type BanRules,
  isRefused,
  newUsage,
  standing,
  take,
  type Usage,
  type Verdict,
} from "../domain/limits.ts";
import type { Limits } from "../domain/plans.ts";
import type {
  Clock,
  CountedUsage,
  Limiter,
  Log,
  MaybePromise,
  SharedUsageStore,
  TakeRequest,
} from "../domain/ports.ts";
import { createStrikes } from "./strikes.ts";

export interface SharedLimiterOptions {
  /** Counts by the same clock as the limiter. */
  readonly usage: SharedUsageStore;
  readonly rules: BanRules;
  /** What time it is; the database's own time unless given, so that no instance's clock matters. */
  readonly clock?: Clock | undefined;
  readonly log: Log;
}

interface Waiter {
  readonly resolve: (verdict: MaybePromise<Verdict>) => void;
  readonly reject: (error: unknown) => void;
}

interface Asking {
  readonly limits: Limits;
  readonly waiters: Waiter[];
}

/** Requests that may wait to be counted; one more is answered 503. */
const waitingMax = 10_000;

/** Keys whose standing is remembered; what is forgotten is asked for again. */
const knownMax = 100_000;

/**
 * The limiter of many processes: it counts in the database they share. While one statement is
 * under way, arriving requests gather, and the next statement asks for all of them at once. What
 * is sure to be refused, because a window is known to be used up or a ban to be in force, is
 * refused without asking.
 */
export function createSharedLimiter(options: SharedLimiterOptions): Limiter {
  const { usage: counts, rules, clock, log } = options;
  const known = new Map<string, Usage>();
  /** What the database said since keys or bans last changed; only that is reason to refuse. */
  let trusted = new WeakSet<Usage>();
  /** The database's time less this process's, as of the last answer. */
  let ahead = Date.now() - performance.now();
  let asking = new Map<string, Asking>();
  let waiting = 0;
  let running: Promise<void> | undefined;
  /** Bans are the database's to begin, so the rules applied here never begin one. */
  const unbanning: BanRules = { ...rules, strikesMin: Infinity };
  const strikes = createStrikes({ usage: counts, rules, log, learn });

  /**
   * The database's time, never behind it: a window must not be taken for used up when it is over.
   * Too early only means to ask.
   */
  function now(): number {
    return clock ? clock.now() : Math.ceil(performance.now() + ahead);
  }

  function learn(keyId: string, found: CountedUsage, askedAt: number): void {
    ahead = found.now - askedAt;
    strikes.learn(keyId, found.usage);
    // From here on only strikes of this process that the database has not counted yet.
    found.usage.strikes = 0;
    const before = known.get(keyId);
    if (before) keepFirstRefusals(before, found.usage);
    else if (known.size >= knownMax) known.clear();
    known.set(keyId, found.usage);
    trusted.add(found.usage);
  }

  async function run(): Promise<void> {
    // One turn of the loop lets everything that arrived together join the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (asking.size > 0) {
      const group = asking;
      asking = new Map();
      waiting = 0;
      await settle(group);
    }
    running = undefined;
  }

  async function settle(group: ReadonlyMap<string, Asking>): Promise<void> {
    const requests: TakeRequest[] = [];
    for (const [keyId, { limits, waiters }] of group) {
      requests.push({ keyId, limits, wanted: waiters.length });
    }
    const askedAt = performance.now();
    let answers: ReadonlyMap<string, CountedUsage>;
    try {
      answers = await counts.take(requests);
    } catch (error) {
      for (const { waiters } of group.values()) for (const one of waiters) one.reject(error);
      return;
    }
    for (const [keyId, { limits, waiters }] of group) {
      const found = answers.get(keyId)!;
      learn(keyId, found, askedAt);
      // The count stands after the whole group; each of it gets the count after its own turn.
      found.usage.minuteCount -= found.granted;
      found.usage.dayCount -= found.granted;
      for (const one of waiters) one.resolve(decide(keyId, found.usage, limits, found.now));
    }
  }

  /** Applies the rules to what is known. Strikes go to the database, which alone can add them up. */
  function decide(
    keyId: string,
    usage: Usage,
    limits: Limits,
    moment: number,
  ): MaybePromise<Verdict> {
    const verdict = take(usage, limits, unbanning, moment);
    if (verdict.outcome === "admitted") return verdict;
    const deciding = strikes.refused(keyId, usage, limits);
    return deciding ? deciding.then(() => asDecided(keyId, limits, verdict)) : verdict;
  }

  function asDecided(keyId: string, limits: Limits, verdict: Verdict): Verdict {
    const stands = standing(known.get(keyId) ?? newUsage(), limits, verdict.now);
    return stands.outcome === "banned" ? stands : verdict;
  }

  return {
    take(keyId, limits) {
      const usage = known.get(keyId);
      const moment = now();
      if (usage && trusted.has(usage) && isRefused(usage, limits, moment)) {
        return decide(keyId, usage, limits, moment);
      }
      if (waiting >= waitingMax) {
        throw new Refusal("unavailable", "Too many requests are waiting; try again.");
      }
      waiting += 1;
      return new Promise((resolve, reject) => {
        const same = asking.get(keyId);
        if (same) same.waiters.push({ resolve, reject });
        else asking.set(keyId, { limits, waiters: [{ resolve, reject }] });
        running ??= run();
      });
    },
    recall: (keyId, limits) => standing(known.get(keyId) ?? newUsage(), limits, now()),
    refresh() {
      // A ban may have been lifted, with the strikes that led to it, or a plan changed: the next
      // request asks.
      const moment = now();
      for (const [keyId, { bannedUntil }] of known) {
        if (moment < bannedUntil) strikes.forget(keyId);
      }
      trusted = new WeakSet();
    },
    async close() {
      while (running) await running;
      await strikes.close();
    },
  };
}

/**
 * The database does not hear of refusals that cost it nothing, so when a window was first found
 * used up is known here, if it was here, and the second of grace is counted from then.
 */
function keepFirstRefusals(before: Usage, usage: Usage): void {
  if (before.minuteStart === usage.minuteStart) {
    usage.minuteRefusedAt = earlier(before.minuteRefusedAt, usage.minuteRefusedAt);
  }
  if (before.dayStart === usage.dayStart) {
    usage.dayRefusedAt = earlier(before.dayRefusedAt, usage.dayRefusedAt);
  }
}

/** The earlier of two moments; 0 is none. */
function earlier(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}
