// Compares two versions by paired ratios. Every round measures both versions one shortly after the
// other, so that slow drifts of the machine cancel out in the ratio of the round. Rounds between two
// restarts share their processes, and two processes of the same version differ for as long as they
// run. So each start counts once, with the median of its rounds.
import { best } from "./best.ts";
import type { Measured } from "./generator.ts";

/** The old version runs twice. The two differ only by noise. */
export const versions = ["old", "new", "old again"] as const;
export type Version = (typeof versions)[number];

/** One run of each version. */
export type Round = Record<Version, Measured>;

/** The rounds between two restarts of the services. */
export type Start = Round[];

export interface Ratio {
  /** The ratio of the best runs of all rounds. */
  best: number;
  /** The median of the starts. */
  median: number;
  /** The 95 % confidence interval of the median; undefined if there are too few starts. */
  interval: Interval | undefined;
}

export interface Interval {
  low: number;
  high: number;
}

export type Result = "within" | "beyond" | "noise larger than the bound";

export interface Comparison {
  scenario: string;
  measure: "CPU µs/response" | "responses/s";
  rounds: number;
  newToOld: Ratio;
  /** The second run of the old version divided by the first. */
  oldToOld: Ratio;
  /** The largest acceptable loss: 0.03 is 3 %. */
  bound: number;
  result: Result;
}

/** Compares CPU time and rate, in this order. Omits the CPU time where the system does not report it. */
export function compareVersions(
  scenario: { title: string; kind: "get" | "patch"; bound: number },
  starts: Start[],
): Comparison[] {
  const { title, kind, bound } = scenario;
  const rounds = starts.flat().length;
  const measures = [
    {
      measure: "CPU µs/response",
      lossOf: (ratio: number) => ratio - 1,
      read: ({ cpuMicroseconds }: Measured) => cpuMicroseconds ?? Number.NaN,
    },
    {
      measure: "responses/s",
      lossOf: (ratio: number) => 1 - ratio,
      read: (run: Measured) => run[kind].requests / run.seconds,
    },
  ] as const;
  return measures.flatMap(({ measure, lossOf, read }) => {
    const newToOld = ratioOf(starts, "new", read);
    const oldToOld = ratioOf(starts, "old again", read);
    if (Number.isNaN(newToOld.median) || Number.isNaN(oldToOld.median)) return [];
    const result = judge(lossOf(newToOld.median), noiseOf({ newToOld, oldToOld }), bound);
    return { scenario: title, measure, rounds, newToOld, oldToOld, bound, result };
  });
}

function ratioOf(starts: Start[], version: Version, read: (run: Measured) => number): Ratio {
  const medians = starts.map((rounds) =>
    median(rounds.map((round) => read(round[version]) / read(round.old))),
  );
  const bestOf = (one: Version) => read(best(starts.flat().map((round) => round[one])));
  return {
    best: bestOf(version) / bestOf("old"),
    median: median(medians),
    interval: intervalOfMedian(medians),
  };
}

export function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/**
 * Returns the 95 % confidence interval of the median by the sign test, which assumes nothing about
 * the distribution: as many of the smallest and of the largest values are left off as chance allows.
 * Undefined for fewer than six values.
 */
export function intervalOfMedian(values: number[]): Interval | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const count = sorted.length;
  // The chance that exactly `below` values are smaller than the true median, and that at most so many are.
  let below = 0;
  let exactly = 0.5 ** count;
  let atMost = exactly;
  while (atMost <= 0.025) {
    below++;
    exactly *= (count - below + 1) / below;
    atMost += exactly;
  }
  if (below === 0) return undefined;
  return { low: sorted[below - 1]!, high: sorted[count - below]! };
}

/** The width of the interval, or the distance of the median old/old from 1 if that is larger. */
export function noiseOf({ newToOld, oldToOld }: Pick<Comparison, "newToOld" | "oldToOld">): number {
  const { interval } = newToOld;
  if (interval === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(interval.high - interval.low, Math.abs(oldToOld.median - 1));
}

/** Noise larger than the bound leaves the result open, unless the loss is clear in spite of it. */
export function judge(loss: number, noise: number, bound: number): Result {
  if (loss - noise > bound) return "beyond";
  if (loss + noise <= bound) return "within";
  if (noise > bound) return "noise larger than the bound";
  return loss > bound ? "beyond" : "within";
}
