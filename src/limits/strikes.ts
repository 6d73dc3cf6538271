import { type BanRules, minuteMs, strike, strikesForBan, type Usage } from "../domain/limits.ts";
import type { Limits } from "../domain/plans.ts";
import type { Log } from "../domain/ports.ts";
import type { createTables, Known } from "./tables.ts";

export interface StrikesOptions {
  readonly tables: Pick<ReturnType<typeof createTables>, "strike" | "ban">;
  readonly rules: BanRules;
  readonly log: Log;
  /** Told what the database knows of a key, and when it was asked. */
  readonly learn: (keyId: string, found: Known, askedAt: number) => void;
}

/** Strikes not yet added up, by the minute they fell into. */
interface Pending {
  limits: Limits;
  readonly counts: Map<number, number>;
}

/** The latest minute's strikes that the database had counted when it last spoke of the key. */
interface Counted {
  readonly minute: number;
  readonly strikes: number;
}

/** How long refusals are gathered: a ban that several instances bring about comes this late. */
const gatherMs = 500;

/**
 * Refusals cost the database nothing when they happen. What they add up to over all instances is
 * settled in one statement now and then, which also brings back bans that others began.
 */
export function createStrikes({ tables, rules, log, learn }: StrikesOptions) {
  const pending = new Map<string, Pending>();
  const counted = new Map<string, Counted>();
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    if (pending.size === 0) return;
    const batch = [...pending].map(([keyId, { limits, counts }]) => {
      // One minute at a time; around a minute's edge the next one waits for the next turn.
      const [minute = 0, count = 0] = counts.entries().next().value ?? [];
      counts.delete(minute);
      if (counts.size === 0) pending.delete(keyId);
      return { keyId, limits, minute, count };
    });
    const askedAt = performance.now();
    const found = await tables.strike(batch);
    for (const { keyId, limits } of batch) {
      const state = found.get(keyId);
      if (!state) continue;
      await banIfDue(keyId, state, limits);
      learn(keyId, state, askedAt);
    }
  }

  /** The rule is the domain's, applied to the sum over all instances, at the strikes' own minute. */
  async function banIfDue(keyId: string, { usage, now }: Known, limits: Limits): Promise<void> {
    const previous = usage.banStartedAt;
    const judgedAt = Math.min(now, usage.strikesMinute + minuteMs - 1);
    if (usage.strikes === 0 || judgedAt < usage.bannedUntil) return;
    if (!strike(usage, limits, rules, judgedAt, 0)) return;
    if (await tables.ban(keyId, usage.banStartedAt, usage.bannedUntil, previous)) {
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

  function flushNow(): Promise<void> {
    flushing = flushing
      .then(flush)
      .catch((error) => log("strikes not saved", { error: String(error) }));
    return flushing;
  }

  /** Whether a minute's strikes, as far as is known here, are enough for a ban. */
  function isEnough(keyId: string, { limits, counts }: Pending, minute: number): boolean {
    const before = counted.get(keyId);
    const elsewhere = before?.minute === minute ? before.strikes : 0;
    return elsewhere + (counts.get(minute) ?? 0) >= strikesForBan(limits, rules);
  }

  return {
    /** What the database said of a key's strikes. */
    learn(keyId: string, { strikesMinute, strikes }: Usage): void {
      if (strikes > 0) counted.set(keyId, { minute: strikesMinute, strikes });
      else counted.delete(keyId);
    },
    /** Strikes may have been forgiven; the database will tell. */
    forget(): void {
      counted.clear();
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
        const { strikesMinute } = usage;
        const { strikes } = usage;
        usage.strikes = 0;
        mine.counts.set(strikesMinute, (mine.counts.get(strikesMinute) ?? 0) + strikes);
        if (isEnough(keyId, mine, strikesMinute)) return flushNow();
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
