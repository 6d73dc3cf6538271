import { inBackground } from "../domain/background.ts";
import { type BanRules, minuteMs, strike, strikesForBan, type Usage } from "../domain/limits.ts";
import type { Limits } from "../domain/plans.ts";
import type { CountedUsage, Log, SharedUsageStore } from "../domain/ports.ts";

export interface StrikesOptions {
  readonly usage: Pick<SharedUsageStore, "addStrikes" | "startBan">;
  readonly rules: BanRules;
  readonly log: Log;
  /** Told what the database knows of a key, and when it was asked. */
  readonly learn: (keyId: string, found: CountedUsage, askedAt: number) => void;
}

/** Strikes not yet added up, by the minute they fell into. */
interface Pending {
  limits: Limits;
  readonly counts: Map<number, number>;
}

/** Strikes of one minute. */
interface Count {
  readonly minute: number;
  readonly count: number;
}

/** How long refusals are gathered: a ban that several instances bring about comes this late. */
const gatherMs = 500;

/**
 * Refusals cost the database nothing when they happen. What they add up to over all instances is
 * settled in one statement now and then, which also brings back bans that others began.
 */
export function createStrikes({ usage: counts, rules, log, learn }: StrikesOptions) {
  const pending = new Map<string, Pending>();
  /** What the database is being told, and what it last said of all instances together. */
  const underWay = new Map<string, Count>();
  const added = new Map<string, Count>();
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();
  const watchFlush = inBackground("saving strikes", log, (flushed: Promise<void>) => flushed);

  async function flush(): Promise<void> {
    if (pending.size === 0) return;
    let isEdge = false;
    const batch = [...pending].map(([keyId, { limits, counts }]) => {
      // One minute at a time; around a minute's edge the next one follows at once.
      const [minute = 0, count = 0] = counts.entries().next().value ?? [];
      counts.delete(minute);
      if (counts.size === 0) pending.delete(keyId);
      else isEdge = true;
      underWay.set(keyId, { minute, count });
      return { keyId, limits, minute, count };
    });
    const askedAt = performance.now();
    const found = await counts.addStrikes(batch).finally(() => underWay.clear());
    for (const { keyId, limits } of batch) {
      const state = found.get(keyId);
      if (!state) continue;
      await banIfDue(keyId, state, limits);
      learn(keyId, state, askedAt);
    }
    if (isEdge) await flush();
  }

  /** The rule is the domain's, applied to the sum over all instances, at the strikes' own minute. */
  async function banIfDue(
    keyId: string,
    { usage, now }: CountedUsage,
    limits: Limits,
  ): Promise<void> {
    const previous = usage.banStartedAt;
    const judgedAt = Math.min(now, usage.strikesMinute + minuteMs - 1);
    if (usage.strikes === 0 || judgedAt < usage.bannedUntil) return;
    if (!strike(usage, limits, rules, judgedAt, 0)) return;
    if (await counts.startBan(keyId, usage.banStartedAt, usage.bannedUntil, previous)) {
      log("key banned", { keyId, until: new Date(usage.bannedUntil).toISOString() });
    }
  }

  function schedule(): void {
    if (timer || pending.size === 0) return;
    timer = setTimeout(() => {
      void flushNow().then(() => {
        timer = undefined;
        schedule();
      });
    }, gatherMs);
    timer.unref();
  }

  /** Settles when the flush is over, failed or not: the log is told, and nobody else. */
  function flushNow(): Promise<void> {
    flushing = flushing.catch(() => {}).then(flush);
    watchFlush(flushing);
    return flushing.catch(() => {});
  }

  /** Whether a key's strikes of a minute, as far as is known here, are enough for a ban. */
  function isEnough(keyId: string, minute: number, limits: Limits): boolean {
    let strikes = pending.get(keyId)?.counts.get(minute) ?? 0;
    for (const counts of [underWay, added]) {
      const found = counts.get(keyId);
      if (found?.minute === minute) strikes += found.count;
    }
    return strikes >= strikesForBan(limits, rules);
  }

  return {
    /** What the database said of a key's strikes. */
    learn(keyId: string, usage: Usage): void {
      const { strikesMinute: minute, strikes: count } = usage;
      if (count > 0) added.set(keyId, { minute, count });
      else added.delete(keyId);
    },
    /** A key's strikes may have been forgiven: none is held against it until the database says so. */
    forget(keyId: string): void {
      added.delete(keyId);
      pending.delete(keyId);
    },
    /**
     * Books a refusal that the rules have just been applied to, and the strike it may have been.
     * Where that is likely to bring a ban, the promise is settled once the database has decided.
     */
    refused(keyId: string, usage: Usage, limits: Limits): Promise<void> | undefined {
      let mine = pending.get(keyId);
      if (!mine) {
        mine = { limits, counts: new Map() };
        pending.set(keyId, mine);
      }
      mine.limits = limits;
      if (usage.strikes > 0) {
        const { strikesMinute, strikes } = usage;
        usage.strikes = 0;
        mine.counts.set(strikesMinute, (mine.counts.get(strikesMinute) ?? 0) + strikes);
        if (isEnough(keyId, strikesMinute, limits)) return flushNow();
      }
      schedule();
      return undefined;
    },
    async close(): Promise<void> {
      clearTimeout(timer);
      await flushNow();
    },
  };
}
