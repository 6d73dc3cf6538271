import {
  type BanRules,
  correct,
  isAhead,
  type LimitDecision,
  type Limiter,
  lift,
  limitState,
  newUsage,
  take,
  type Usage,
} from "../domain/limits/limits.ts";
import type { Limits } from "../domain/limits/plans.ts";
import { every, failureDetails, inTurn, isUnavailable } from "../domain/running/background.ts";
import type { Clock } from "../domain/running/clock.ts";
import type { Log } from "../domain/running/events.ts";
import type { Ban, SavedUsage, UsageStore } from "../domain/usage/usage.ts";

/** How often counts are saved. A crash loses at most this much. */
const saveEveryMs = 1_000;

/**
 * So many saves in a row may find the store locked: commands write to it, and an import takes seconds.
 * One more is logged.
 */
const lockedSavesMax = 10;

export interface LocalLimiterOptions {
  readonly usage: UsageStore;
  readonly clock: Clock;
  readonly rules: BanRules;
  readonly log: Log;
}

/** The rate limiter of a single serving process. It counts in memory and saves every second. */
export async function createLocalLimiter(options: LocalLimiterOptions): Promise<Limiter> {
  const { usage: store, clock, rules, log } = options;
  const usages = await load(store);
  const unsaved = new Set<string>();
  let unsavedBans: Ban[] = [];
  /** Set while bans are read again. Requests wait for it, so that none is rejected by a lifted ban. */
  let refreshing: Promise<void> | undefined;
  /** Saves what has changed. What cannot be saved is kept for the next attempt. */
  const save = inTurn(saveNow);

  async function saveNow(): Promise<void> {
    while (unsavedBans.length > 0) {
      await store.saveBan(unsavedBans[0]!);
      unsavedBans = unsavedBans.slice(1);
    }
    if (unsaved.size === 0) return;
    const rows = [...unsaved].map((keyId): SavedUsage => ({ keyId, ...usages.get(keyId)! }));
    unsaved.clear();
    try {
      await store.saveUsage(rows);
    } catch (error) {
      for (const row of rows) unsaved.add(row.keyId);
      throw error;
    }
  }

  function saveBan(keyId: string, usage: Usage): void {
    const ban = { keyId, startedAt: usage.banStartedAt, until: usage.bannedUntil, liftedAt: null };
    log("key banned", { keyId, until: new Date(ban.until).toISOString() });
    unsavedBans.push(ban);
    // Saved at once. If that fails, the timer retries and logs the failure.
    save().catch(() => {});
  }

  let lockedSaves = 0;
  async function trySave(): Promise<void> {
    try {
      await save();
      lockedSaves = 0;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // The service logs that the store cannot be written. A lock of another process is no such state.
      lockedSaves = error.reason === "busy" ? lockedSaves + 1 : 0;
      if (lockedSaves > lockedSavesMax) throw error;
    }
  }
  const stopSaving = every(saveEveryMs, "saving usage and bans", log, trySave);

  function takeNow(keyId: string, limits: Limits): LimitDecision {
    let usage = usages.get(keyId);
    if (!usage) {
      usage = newUsage();
      usages.set(keyId, usage);
    }
    // A correction is saved too. Otherwise the next start would make it again, in another minute.
    if (isAhead(usage, clock.now())) unsaved.add(keyId);
    const decision = take(usage, limits, rules, clock.now());
    if (decision.outcome === "admitted") unsaved.add(keyId);
    else if (decision.banBegan) saveBan(keyId, usage);
    return decision;
  }

  async function readLifts(): Promise<void> {
    try {
      for (const ban of await store.loadBans()) {
        const usage = usages.get(ban.keyId);
        if (usage && ban.liftedAt !== null && usage.banStartedAt === ban.startedAt) lift(usage);
      }
    } catch (error) {
      log("bans not read", failureDetails(error));
    }
  }

  return {
    take(keyId, limits) {
      return refreshing ? refreshing.then(() => takeNow(keyId, limits)) : takeNow(keyId, limits);
    },
    lastKnown: (keyId, limits) => limitState(usages.get(keyId) ?? newUsage(), limits, clock.now()),
    findUsage(keyId) {
      const usage = usages.get(keyId);
      if (usage) correct(usage, clock.now());
      return usage;
    },
    refresh() {
      const reading = (refreshing ?? Promise.resolve()).then(readLifts).then(() => {
        if (refreshing === reading) refreshing = undefined;
      });
      refreshing = reading;
    },
    async close() {
      stopSaving();
      await save().catch((error) => log("usage and bans not saved", failureDetails(error)));
    },
  };
}

async function load(store: UsageStore): Promise<Map<string, Usage>> {
  const usages = new Map<string, Usage>();
  for (const { keyId, ...saved } of await store.loadUsage()) {
    usages.set(keyId, { ...newUsage(), ...saved });
  }
  for (const ban of await store.loadBans()) {
    if (ban.liftedAt !== null) continue;
    const usage = usages.get(ban.keyId) ?? newUsage();
    usage.banStartedAt = ban.startedAt;
    usage.bannedUntil = ban.until;
    usages.set(ban.keyId, usage);
  }
  return usages;
}
