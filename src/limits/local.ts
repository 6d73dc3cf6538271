import { every } from "../domain/background.ts";
import {
  type BanRules,
  lift,
  newUsage,
  standing,
  take,
  type Usage,
  type Verdict,
} from "../domain/limits.ts";
import type { Limits } from "../domain/plans.ts";
import type { Ban, Clock, Limiter, Log, SavedUsage, UsageStore } from "../domain/ports.ts";

/** How often counts are written down: what a crash can lose at most. */
const saveEveryMs = 1_000;

export interface LocalLimiterOptions {
  readonly journal: UsageStore;
  readonly clock: Clock;
  readonly rules: BanRules;
  /** Told when a ban begins and when the journal cannot be written. */
  readonly log: Log;
}

/** The limiter of a process that serves alone: it counts in memory and writes down every second. */
export async function createLocalLimiter(options: LocalLimiterOptions): Promise<Limiter> {
  const { journal, clock, rules, log } = options;
  const usages = await load(journal);
  let latest = 0;
  for (const usage of usages.values()) latest = Math.max(latest, usage.lastUsedAt);
  const unsaved = new Set<string>();
  let unsavedBans: Ban[] = [];
  /** Under way while bans are being read again; requests wait for it, so that none misses a lift. */
  let refreshing: Promise<void> | undefined;
  let saving = Promise.resolve();

  /** Time that never decreases, across restarts too: no window reopens when a clock goes back. */
  function now(): number {
    latest = Math.max(latest, clock.now());
    return latest;
  }

  /** Writes down what has changed. What cannot be written now is kept for the next time. */
  function save(): Promise<void> {
    saving = saving.catch(() => {}).then(saveNow);
    return saving;
  }

  async function saveNow(): Promise<void> {
    while (unsavedBans.length > 0) {
      await journal.saveBan(unsavedBans[0]!);
      unsavedBans = unsavedBans.slice(1);
    }
    if (unsaved.size === 0) return;
    const rows = [...unsaved].map((keyId): SavedUsage => ({ keyId, ...usages.get(keyId)! }));
    unsaved.clear();
    try {
      await journal.saveUsage(rows);
    } catch (error) {
      for (const row of rows) unsaved.add(row.keyId);
      throw error;
    }
  }

  function saveBan(keyId: string, usage: Usage): void {
    const ban = { keyId, startedAt: usage.banStartedAt, until: usage.bannedUntil, liftedAt: null };
    log("key banned", { keyId, until: new Date(ban.until).toISOString() });
    unsavedBans.push(ban);
    // At once; the timer tries again if it fails, and tells the log.
    save().catch(() => {});
  }

  const stopSaving = every(saveEveryMs, "saving usage and bans", log, save);

  function takeNow(keyId: string, limits: Limits): Verdict {
    let usage = usages.get(keyId);
    if (!usage) {
      usage = newUsage();
      usages.set(keyId, usage);
    }
    const verdict = take(usage, limits, rules, now());
    if (verdict.outcome === "admitted") unsaved.add(keyId);
    else if (verdict.banBegan) saveBan(keyId, usage);
    // After a clock went back, a window lasts until the clock is there again: say the real wait.
    return clock.now() < verdict.now ? { ...verdict, now: clock.now() } : verdict;
  }

  async function readLifts(): Promise<void> {
    try {
      for (const ban of await journal.loadBans()) {
        const usage = usages.get(ban.keyId);
        if (usage && ban.liftedAt !== null && usage.banStartedAt === ban.startedAt) lift(usage);
      }
    } catch (error) {
      log("bans not read", { error: String(error) });
    }
  }

  return {
    take(keyId, limits) {
      return refreshing ? refreshing.then(() => takeNow(keyId, limits)) : takeNow(keyId, limits);
    },
    recall: (keyId, limits) => standing(usages.get(keyId) ?? newUsage(), limits, now()),
    refresh() {
      const reading = (refreshing ?? Promise.resolve()).then(readLifts).then(() => {
        if (refreshing === reading) refreshing = undefined;
      });
      refreshing = reading;
    },
    async close() {
      stopSaving();
      await save().catch((error) => log("usage and bans not saved", { error: String(error) }));
    },
  };
}

async function load(journal: UsageStore): Promise<Map<string, Usage>> {
  const usages = new Map<string, Usage>();
  for (const { keyId, ...saved } of await journal.loadUsage()) {
    usages.set(keyId, { ...newUsage(), ...saved });
  }
  for (const ban of await journal.loadBans()) {
    if (ban.liftedAt !== null) continue;
    const usage = usages.get(ban.keyId) ?? newUsage();
    usage.banStartedAt = ban.startedAt;
    usage.bannedUntil = ban.until;
    usages.set(ban.keyId, usage);
  }
  return usages;
}
