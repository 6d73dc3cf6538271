import { type BanRules, minuteMs, strike, type Usage } from "../domain/limits.ts";
import type { Limits } from "../domain/plans.ts";
import type { createTables, Known } from "./tables.ts";

export interface StrikesOptions {
  readonly tables: Pick<ReturnType<typeof createTables>, "strike" | "ban">;
  readonly rules: BanRules;
  readonly log: (event: string, details: Record<string, unknown>) => void;
  /** Told what the database knows of a key, and when it was asked. */
  readonly learn: (keyId: string, found: Known, askedAt: number) => void;
}

/** Strikes not yet added up, by the minute they fell into. */
interface Pending {
  limits: Limits;
  readonly counts: Map<number, number>;
}

/** How long refusals are gathered: a ban comes at most this late, everywhere. */
const gatherMs = 500;

/**
 * Refusals cost the database nothing when they happen. What they add up to over all instances is
 * settled in one statement now and then, which also brings back bans that others began.
 */
export function createStrikes({ tables, rules, log, learn }: StrikesOptions) {
  const pending = new Map<string, Pending>();
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
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
      flushing = flush().catch((error) => log("strikes not saved", { error: String(error) }));
      void flushing.finally(() => {
        timer = undefined;
        schedule();
      });
    }, gatherMs);
    timer.unref();
  }

  return {
    /** Books a refusal that the rules have just been applied to, and the strike it may have been. */
    refused(keyId: string, usage: Usage, limits: Limits): void {
      let mine = pending.get(keyId);
      if (!mine) {
        mine = { limits, counts: new Map() };
        pending.set(keyId, mine);
      }
      mine.limits = limits;
      if (usage.strikes > 0) {
        const { strikesMinute } = usage;
        mine.counts.set(strikesMinute, (mine.counts.get(strikesMinute) ?? 0) + usage.strikes);
        usage.strikes = 0;
      }
      schedule();
    },
    async close(): Promise<void> {
      clearTimeout(timer);
      await flushing;
      if (pending.size > 0) await flush().catch(() => {});
    },
  };
}
