import type { Usage } from "../domain/limits/limits.ts";
import type { Limits } from "../domain/limits/plans.ts";
import { every, inBackground, inTurn, whileAvailable } from "../domain/running/background.ts";
import type { Log } from "../domain/running/events.ts";
import type { ReturnedRequests, SharedUsageStore } from "../domain/usage/usage.ts";
import { dayMs, minuteMs } from "../domain/values/times.ts";

/** A reserve holds the requests of about this time. */
const aheadMs = 50;

/** The shortest time over which arrivals are averaged. A burst counts as a high rate. */
const measuredMsMin = 5;

/** A key that sends fewer requests in `aheadMs` has no reserve. */
const wantedMin = 8;

/** The reserve of a process is at most what is left, divided by this. */
const leftPerReserved = 1_000;

/** A reserve is returned if nothing was added to it for this long. */
const idleMs = 1_000;

interface Reserve {
  size: number;
  /** The windows in which the requests were counted. */
  minuteStart: number;
  dayStart: number;
  /** The size after requests were last added. */
  full: number;
  /** How many requests have arrived since `measuredAt`. */
  arrived: number;
  measuredAt: number;
  /** Whether a statement is running that may add to it. */
  isCounting: boolean;
}

const name = "returning reserved requests";

/** Returns unused requests to the database. */
function createReturns(store: Pick<SharedUsageStore, "giveBack">) {
  const returned = new Map<string, ReturnedRequests>();

  async function send(): Promise<void> {
    if (returned.size === 0) return;
    const sent = [...returned.values()];
    returned.clear();
    // Not repeated if it fails: it may have been stored, and requests must not be returned twice.
    await store.giveBack(sent);
  }

  return {
    /** Removes what a reserve holds. The next `giveBack` returns it. */
    empty(keyId: string, reserve: Reserve): void {
      const { size, minuteStart, dayStart } = reserve;
      if (size === 0) return;
      reserve.size = 0;
      let [minuteCount, dayCount] = [size, size];
      // Requests of an earlier minute may still be returned to the day.
      const before = returned.get(keyId);
      if (before?.minuteStart === minuteStart) minuteCount += before.minuteCount;
      if (before?.dayStart === dayStart) dayCount += before.dayCount;
      returned.set(keyId, { keyId, minuteStart, minuteCount, dayStart, dayCount });
    },
    /** Resolves when this statement and those before it have ended. */
    giveBack: inTurn(send),
  };
}

/**
 * Requests of busy keys that the database has counted in advance for this process. While the reserve of
 * a key is not empty, its requests are admitted without a query. Reserved requests are already counted,
 * so all processes together never admit more than the limit.
 *
 * A process reserves at most a thousandth of what is left. Keys with limits below 8,000 therefore
 * have no reserve, and the headers of their responses are exact on every instance.
 */
export function createReserves(store: Pick<SharedUsageStore, "giveBack">, log: Log) {
  const reserves = new Map<string, Reserve>();
  const { empty, giveBack } = createReturns(store);

  async function returnIdle(): Promise<void> {
    const now = performance.now();
    for (const [keyId, reserve] of reserves) {
      if (reserve.isCounting || now - reserve.measuredAt < idleMs) continue;
      empty(keyId, reserve);
      reserves.delete(keyId);
    }
    await giveBack();
  }

  const stop = every(idleMs, name, log, whileAvailable(returnIdle));

  return {
    /** Records a request that arrived, and returns true if it can be admitted from the reserve. */
    arrive(keyId: string, limits: Limits, usage: Usage | undefined, at: number): boolean {
      let reserve = reserves.get(keyId);
      if (!reserve) {
        if (Math.min(limits.perMinute, limits.perDay) < wantedMin * leftPerReserved) return false;
        // As if none had arrived for this long, so that one request does not look like a high rate.
        const measuredAt = performance.now() - idleMs;
        const counts = { size: 0, minuteStart: 0, dayStart: 0, full: 0, arrived: 0 };
        reserve = { ...counts, measuredAt, isCounting: false };
        reserves.set(keyId, reserve);
      }
      reserve.arrived += 1;
      if (reserve.size === 0 || !usage) return false;
      const { minuteStart, dayStart } = reserve;
      const isCurrent = at < minuteStart + minuteMs && at < dayStart + dayMs;
      if (!isCurrent) empty(keyId, reserve);
      return isCurrent;
    },
    /** True if it is time to count more in advance. */
    isLow(keyId: string): boolean {
      const { size, full } = reserves.get(keyId)!;
      return size < full / 2;
    },
    /**
     * How many more requests should be counted in advance. `usage` is what is known of the key. Call it
     * before a statement that counts, and `ended` after it. In between, the reserve is not returned.
     */
    wanted(keyId: string, limits: Limits, usage: Usage | undefined): number {
      const reserve = reserves.get(keyId);
      if (!reserve || !usage) return 0;
      reserve.isCounting = true;
      const now = performance.now();
      const elapsedMs = now - reserve.measuredAt;
      const ahead = Math.floor((reserve.arrived * aheadMs) / Math.max(measuredMsMin, elapsedMs));
      reserve.arrived = 0;
      reserve.measuredAt = now;
      const left = Math.min(limits.perMinute - usage.minuteCount, limits.perDay - usage.dayCount);
      const target = Math.min(ahead, Math.floor(left / leftPerReserved));
      return target < wantedMin ? 0 : Math.max(0, target - reserve.size);
    },
    ended(keyId: string): void {
      const reserve = reserves.get(keyId);
      if (reserve) reserve.isCounting = false;
    },
    /**
     * Adds `granted` requests, which the database has counted in `usage`. Returns the size of the
     * reserve, all of which is counted there.
     */
    add(keyId: string, usage: Usage, granted: number): number {
      const reserve = reserves.get(keyId);
      if (!reserve) return granted;
      const { minuteStart, dayStart } = usage;
      if (minuteStart !== reserve.minuteStart || dayStart !== reserve.dayStart) {
        empty(keyId, reserve);
        reserve.minuteStart = minuteStart;
        reserve.dayStart = dayStart;
      }
      reserve.size += granted;
      reserve.full = reserve.size;
      return reserve.size;
    },
    /** Removes a request that was admitted. */
    use(keyId: string): void {
      const reserve = reserves.get(keyId);
      if (reserve && reserve.size > 0) reserve.size -= 1;
    },
    /** Returns what is left to the database. A failure is logged and does not reject. */
    async close(): Promise<void> {
      stop();
      for (const [keyId, reserve] of reserves) empty(keyId, reserve);
      const last = giveBack();
      inBackground(
        name,
        log,
        whileAvailable(() => last),
      )();
      await last.catch(() => {});
    },
  };
}
