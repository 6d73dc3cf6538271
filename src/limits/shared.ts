import {
  type BanRules,
  isAhead,
  isExhausted,
  type LimitDecision,
  type Limiter,
  limitState,
  newUsage,
  take,
  type Usage,
} from "../domain/limits/limits.ts";
import type { Limits } from "../domain/limits/plans.ts";
import type { Clock, MaybePromise } from "../domain/running/clock.ts";
import { unavailable } from "../domain/running/errors.ts";
import type { Log } from "../domain/running/events.ts";
import type { ClockWatch } from "../domain/usage/clock-watch.ts";
import type { CountedUsage, SharedUsageStore, TakeRequest } from "../domain/usage/usage.ts";
import { createReserves } from "./reserves.ts";
import { createStrikes } from "./strikes.ts";

export interface SharedLimiterOptions {
  readonly usage: SharedUsageStore;
  readonly rules: BanRules;
  /** Learns the database's time from every statement. */
  readonly serverTime: Pick<ClockWatch, "observe">;
  readonly log: Log;
}

type Waiter = Pick<PromiseWithResolvers<LimitDecision>, "resolve" | "reject">;

/** Requests of one key that wait to be counted. */
interface WaitingRequests {
  readonly limits: Limits;
  readonly waiters: Waiter[];
}

/** The most requests that may wait to be counted. One more gets a 503. */
const waitingMax = 10_000;

/** The most keys whose usage is cached. */
const cachedMax = 100_000;

/**
 * Groups requests: while one statement is running, new requests queue, and the next statement counts all
 * of them at once.
 */
function createQueue(settle: (group: ReadonlyMap<string, WaitingRequests>) => Promise<void>) {
  let waiting = new Map<string, WaitingRequests>();
  let waitingCount = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    // Waits one turn of the event loop, so that requests that arrived together share a statement.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) {
      const group = waiting;
      waiting = new Map();
      waitingCount = 0;
      await settle(group);
    }
    running = undefined;
  }

  /** Makes the next statement count requests of a key. */
  function count(keyId: string, limits: Limits): WaitingRequests {
    let requests = waiting.get(keyId);
    if (!requests) {
      requests = { limits, waiters: [] };
      waiting.set(keyId, requests);
    }
    running ??= run();
    return requests;
  }

  return {
    count,
    wait(keyId: string, limits: Limits): Promise<LimitDecision> {
      if (waitingCount >= waitingMax) throw unavailable("tooManyRequests");
      waitingCount += 1;
      return new Promise((resolve, reject) => {
        count(keyId, limits).waiters.push({ resolve, reject });
      });
    },
    async close(): Promise<void> {
      while (running) await running;
    },
  };
}

/** What the database last returned, without the requests that are in reserve, and its time. */
function createKnownUsage(clock: Clock | undefined) {
  const cache = new Map<string, Usage>();
  /** Usage read since keys or bans last changed. */
  let fresh = new WeakSet<Usage>();
  /** The database's time minus this process's, as of the last response. */
  let clockOffset = Date.now() - performance.now();

  return {
    /**
     * The database's time, or later. With an earlier time, a window that is over could count as
     * exhausted. A later time only causes a query.
     */
    now: (): number => (clock ? clock.now() : Math.ceil(performance.now() + clockOffset)),
    get: (keyId: string) => cache.get(keyId),
    /** Only fresh usage may reject a request. */
    isFresh: (usage: Usage) => fresh.has(usage),
    put(keyId: string, usage: Usage, now: number, sentAt: number): void {
      clockOffset = now - sentAt;
      const before = cache.get(keyId);
      if (before) keepFirstRefusals(before, usage);
      else if (cache.size >= cachedMax) cache.clear();
      cache.set(keyId, usage);
      fresh.add(usage);
    },
    /** Makes the next request of each key query the database. Returns the keys that are banned. */
    expire(at: number): string[] {
      fresh = new WeakSet();
      return [...cache].flatMap(([keyId, { bannedUntil }]) => (at < bannedUntil ? keyId : []));
    },
  };
}

/**
 * The rate limiter of several processes, which count in a shared database. If a window is known to be
 * exhausted or a ban to be in force, a request is rejected without a query. A request of a busy key is
 * admitted without a query if the database has counted it in advance.
 *
 * Time is the database's, so that the clocks of the instances do not matter.
 */
export function createSharedLimiter(options: SharedLimiterOptions): Limiter {
  const { usage: store, rules, serverTime, log } = options;
  const known = createKnownUsage(store.clock);
  /** Only the database starts bans, so the rules applied here never start one. */
  const rulesWithoutBans: BanRules = { ...rules, strikesMin: Infinity };
  const strikes = createStrikes({ usage: store, rules, log, onCounted: update });
  const reserves = createReserves(store, log);
  const queue = createQueue(settle);

  /**
   * Replaces what is cached for a key with what the database returned. The `granted` requests go to
   * the reserve, from where they are admitted.
   */
  function update(keyId: string, { usage, now, granted }: CountedUsage, sentAt: number): void {
    const reserved = reserves.add(keyId, usage, granted);
    usage.minuteCount -= reserved;
    usage.dayCount -= reserved;
    strikes.update(keyId, usage);
    // From here on counts only strikes of this process that the database has not counted yet.
    usage.strikes = 0;
    known.put(keyId, usage, now, sentAt);
  }

  async function settle(group: ReadonlyMap<string, WaitingRequests>): Promise<void> {
    const requests: TakeRequest[] = [];
    for (const [keyId, { limits, waiters }] of group) {
      const ahead = reserves.wanted(keyId, limits, known.get(keyId));
      requests.push({ keyId, limits, wanted: waiters.length + ahead });
    }
    const sentAt = performance.now();
    const elapsedMs = store.clock?.elapsedMs() ?? sentAt;
    let counted: ReadonlyMap<string, CountedUsage>;
    try {
      counted = await store.take(requests);
    } catch (error) {
      for (const { waiters } of group.values()) for (const waiter of waiters) waiter.reject(error);
      return;
    } finally {
      for (const keyId of group.keys()) reserves.ended(keyId);
    }
    for (const [keyId, { limits, waiters }] of group) {
      const found = counted.get(keyId)!;
      serverTime.observe(found.now, elapsedMs);
      update(keyId, found, sentAt);
      for (const { resolve } of waiters) resolve(decide(keyId, found.usage, limits, found.now));
    }
  }

  /** Applies the rules to cached usage. Strikes go to the database, which adds up all instances. */
  function decide(
    keyId: string,
    usage: Usage,
    limits: Limits,
    at: number,
  ): MaybePromise<LimitDecision> {
    const decision = take(usage, limits, rulesWithoutBans, at);
    if (decision.outcome === "admitted") {
      reserves.use(keyId);
      return decision;
    }
    const flushed = strikes.add(keyId, usage, limits);
    return flushed ? flushed.then(() => bannedOr(decision, keyId, limits)) : decision;
  }

  /** The decision, unless the database has banned the key meanwhile. */
  function bannedOr(decision: LimitDecision, keyId: string, limits: Limits): LimitDecision {
    const current = limitState(known.get(keyId) ?? newUsage(), limits, known.now());
    return current.outcome === "banned" ? current : decision;
  }

  return {
    take(keyId, limits) {
      const usage = known.get(keyId);
      const at = known.now();
      const isReserved = reserves.arrive(keyId, limits, usage, at);
      if (usage && known.isFresh(usage) && (isReserved || isExhausted(usage, limits, at))) {
        if (isReserved && reserves.isLow(keyId)) queue.count(keyId, limits);
        return decide(keyId, usage, limits, at);
      }
      return queue.wait(keyId, limits);
    },
    lastKnown: (keyId, limits) => limitState(known.get(keyId) ?? newUsage(), limits, known.now()),
    findUsage(keyId) {
      const usage = known.get(keyId);
      return usage && !isAhead(usage, known.now()) ? usage : undefined;
    },
    refresh() {
      // A ban may have been lifted, with the strikes that led to it, or a plan may have changed, so
      // the next request of each key queries the database.
      for (const keyId of known.expire(known.now())) strikes.forget(keyId);
    },
    async close() {
      await queue.close();
      await Promise.all([strikes.close(), reserves.close()]);
    },
  };
}

/**
 * Rejections decided locally never reach the database, so only this process may know when a window
 * was first exhausted. The grace period starts at the earlier time.
 */
function keepFirstRefusals(before: Usage, usage: Usage): void {
  if (before.minuteStart === usage.minuteStart) {
    usage.minuteExceededAt = earlier(before.minuteExceededAt, usage.minuteExceededAt);
  }
  if (before.dayStart === usage.dayStart) {
    usage.dayExceededAt = earlier(before.dayExceededAt, usage.dayExceededAt);
  }
}

/** The earlier of two times. 0 means never. */
function earlier(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}
