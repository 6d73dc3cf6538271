import { type BanRules, strike, strikesForBan, type Usage } from "../domain/limits/limits.ts";
import type { Limits } from "../domain/limits/plans.ts";
import { inBackground, whileAvailable } from "../domain/running/background.ts";
import type { Log } from "../domain/running/events.ts";
import type { CountedUsage, SharedUsageStore } from "../domain/usage/usage.ts";
import { minuteMs } from "../domain/values/times.ts";

export interface StrikesOptions {
  readonly usage: Pick<SharedUsageStore, "addStrikes" | "startBan">;
  readonly rules: BanRules;
  readonly log: Log;
  /** Called with the usage that the database returned, and the time when the query was sent. */
  readonly onCounted: (keyId: string, counted: CountedUsage, sentAt: number) => void;
}

/** Strikes of one key that the database has not counted yet, by minute. */
interface Pending {
  limits: Limits;
  readonly counts: Map<number, number>;
}

/** Strikes of one minute. */
interface Count {
  readonly minute: number;
  readonly count: number;
}

/** How long strikes are collected. A ban caused by several instances together starts this late. */
const flushEveryMs = 500;

/**
 * Collects strikes and adds them to those of the other instances, in one statement for many
 * rejected requests. The same statement returns bans that other instances started.
 */
export function createStrikes(options: StrikesOptions) {
  const { usage: store, rules, log, onCounted } = options;
  const pending = new Map<string, Pending>();
  /** Strikes in the running statement. */
  const sent = new Map<string, Count>();
  /** Strikes of all instances, as the database last returned them. */
  const counted = new Map<string, Count>();
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();
  const logFlush = inBackground("saving strikes", log, (flushed: Promise<void>) =>
    whileAvailable(() => flushed)(),
  );

  async function flush(): Promise<void> {
    if (pending.size === 0) return;
    let isMore = false;
    const batch = [...pending].map(([keyId, { limits, counts }]) => {
      // One minute per statement. Around the end of a minute the next one follows at once.
      const [minute = 0, count = 0] = counts.entries().next().value ?? [];
      counts.delete(minute);
      if (counts.size === 0) pending.delete(keyId);
      else isMore = true;
      sent.set(keyId, { minute, count });
      return { keyId, limits, minute, count };
    });
    const sentAt = performance.now();
    const found = await store.addStrikes(batch).finally(() => sent.clear());
    for (const { keyId, limits } of batch) {
      const total = found.get(keyId);
      if (!total) continue;
      await banIfDue(options, keyId, total, limits);
      onCounted(keyId, total, sentAt);
    }
    if (isMore) await flush();
  }

  function scheduleFlush(): void {
    if (timer || pending.size === 0) return;
    timer = setTimeout(() => {
      void flushNow().then(() => {
        timer = undefined;
        scheduleFlush();
      });
    }, flushEveryMs);
    timer.unref();
  }

  /** Resolves when the flush has ended. A failure is logged and does not reject. */
  function flushNow(): Promise<void> {
    flushing = flushing.catch(() => {}).then(flush);
    logFlush(flushing);
    return flushing.catch(() => {});
  }

  /** Whether the strikes of a minute that this process knows of are enough for a ban. */
  function isBanDue(keyId: string, minute: number, limits: Limits): boolean {
    let strikes = pending.get(keyId)?.counts.get(minute) ?? 0;
    for (const counts of [sent, counted]) {
      const found = counts.get(keyId);
      if (found?.minute === minute) strikes += found.count;
    }
    return strikes >= strikesForBan(limits, rules);
  }

  return {
    /** Replaces the strikes of all instances with what the database returned. */
    update(keyId: string, { strikesMinute: minute, strikes: count }: Usage): void {
      if (count > 0) counted.set(keyId, { minute, count });
      else counted.delete(keyId);
    },
    /** Forgets a key's strikes, because a lifted ban resets them. */
    forget(keyId: string): void {
      counted.delete(keyId);
      pending.delete(keyId);
    },
    /**
     * Adds the strikes of a rejected request, to which the rules have been applied; there may be
     * none. If a ban is likely, returns a promise that resolves when the database has decided.
     */
    add(keyId: string, usage: Usage, limits: Limits): Promise<void> | undefined {
      const own = pending.get(keyId) ?? { limits, counts: new Map() };
      own.limits = limits;
      pending.set(keyId, own);
      if (usage.strikes > 0) {
        const { strikesMinute, strikes } = usage;
        usage.strikes = 0;
        own.counts.set(strikesMinute, (own.counts.get(strikesMinute) ?? 0) + strikes);
        if (isBanDue(keyId, strikesMinute, limits)) return flushNow();
      }
      scheduleFlush();
      return undefined;
    },
    async close(): Promise<void> {
      clearTimeout(timer);
      await flushNow();
    },
  };
}

/** Applies the domain's rule to the strikes of all instances, within the minute of the strikes. */
async function banIfDue(
  { usage: store, rules, log }: StrikesOptions,
  keyId: string,
  { usage, now }: CountedUsage,
  limits: Limits,
): Promise<void> {
  const previousStart = usage.banStartedAt;
  const at = Math.min(now, usage.strikesMinute + minuteMs - 1);
  if (usage.strikes === 0 || at < usage.bannedUntil) return;
  if (!strike(usage, limits, rules, at, 0)) return;
  if (await store.startBan(keyId, usage.banStartedAt, usage.bannedUntil, previousStart)) {
    log("key banned", { keyId, until: new Date(usage.bannedUntil).toISOString() });
  }
}
