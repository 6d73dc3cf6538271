import { dayMs, minuteMs } from "../values/times.ts";

/**
 * How many requests each key sent, over time: per minute for a day and per day for 13 months. Only charts
 * use these counts, so a crash may lose the last seconds of them. Minutes and days without requests are
 * not stored. A key that is used in every minute takes 1,500 rows of minutes and 400 of days.
 */

export type Step = "minute" | "day";
export const steps: readonly Step[] = ["minute", "day"];

/** `points` is the number of points in a chart. Counts are kept a little longer. */
const stepRules = {
  minute: { stepMs: minuteMs, points: 1_440, keptMs: 1_500 * minuteMs },
  day: { stepMs: dayMs, points: 396, keptMs: 400 * dayMs },
} as const;

/** The key of requests without a valid key. */
export const withoutKey = "";

/** The key of the sum of all keys, so that no reader has to add them up. */
export const allKeys = "*";

/** Requests of one key in one minute or day, which begins at `start`, in milliseconds since 1970. */
export interface UsageCount {
  readonly keyId: string;
  readonly start: number;
  readonly admitted: number;
  readonly refused: number;
}

/** A stored count. */
export interface UsagePoint extends UsageCount {
  readonly step: Step;
}

/** Stores counts, so that they survive a restart and include every instance. */
export interface UsageHistoryStore {
  /** Adds counts to those that are stored, by this instance or another. */
  addCounts(points: readonly UsagePoint[]): Promise<void>;
  /** The counts of a key that start at a time or later, in order. */
  readCounts(keyId: string, step: Step, from: number): Promise<readonly UsagePoint[]>;
  /**
   * Removes counts that start before a time: at most `prunedMax`, so that no update waits long. Returns
   * how many; 0 if none are left.
   */
  pruneCounts(step: Step, before: number): Promise<number>;
}

/** The maximum number of counts that one call of `pruneCounts` removes. */
export const prunedMax = 1_000;

/** The start of the minute or day that contains a time. */
export function startOf(step: Step, time: number): number {
  return time - (time % stepRules[step].stepMs);
}

/**
 * Adds up counts of minutes to points: of each key and of all keys together, per minute and per day.
 * Sorted, so that instances that add to the same points cannot deadlock.
 */
export function toPoints(counts: readonly UsageCount[]): readonly UsagePoint[] {
  const points = new Map<string, UsagePoint>();
  const add = (keyId: string, step: Step, count: UsageCount) => {
    const start = startOf(step, count.start);
    const id = `${keyId} ${step} ${start}`;
    const { admitted = 0, refused = 0 } = points.get(id) ?? {};
    const sums = { admitted: admitted + count.admitted, refused: refused + count.refused };
    points.set(id, { keyId, step, start, ...sums });
  };
  for (const count of counts) {
    for (const step of steps) {
      add(count.keyId, step, count);
      if (count.keyId !== withoutKey) add(allKeys, step, count);
    }
  }
  return [...points.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, p]) => p);
}

/** The start of the oldest counts that are kept. */
export function oldestKept(step: Step, now: number): number {
  return startOf(step, Math.max(0, now - stepRules[step].keptMs));
}

/** The points of a chart, the last of which is the current one. */
export interface UsageSeries {
  /** The time of the first point. */
  readonly from: number;
  readonly admitted: number[];
  readonly refused: number[];
}

/** The time of the first point of a chart. Never before 1970, even if the clock is wrong. */
export function seriesStart(step: Step, now: number): number {
  const { stepMs, points } = stepRules[step];
  return Math.max(0, startOf(step, now) - (points - 1) * stepMs);
}

/** Makes a chart of counts. Several of them may belong to the same point. */
export function toSeries(counts: readonly UsageCount[], step: Step, now: number): UsageSeries {
  const { stepMs, points } = stepRules[step];
  const from = seriesStart(step, now);
  const admitted: number[] = Array(points).fill(0);
  const refused: number[] = Array(points).fill(0);
  for (const count of counts) {
    const point = Math.floor((count.start - from) / stepMs);
    if (point < 0 || point >= points) continue;
    admitted[point]! += count.admitted;
    refused[point]! += count.refused;
  }
  return { from, admitted, refused };
}
