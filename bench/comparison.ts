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
  /** The median of the starts, see `estimate`. */
  median: number;
  /** The 95 % confidence interval of the median; undefined if there are too few starts. */
  interval: Interval | undefined;
}

export interface Interval {
  low: number;
  high: number;
}

type Read = (run: Measured) => number;

export type Result = "within" | "beyond" | "noise larger than the bound";

export interface Comparison {
  scenario: string;
  measure: "CPU µs/response" | "responses/s";
  rounds: number;
  newToOld: Ratio;
  /** The second run of the old version divided by the first one. */
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

/** A start counts with the median of its rounds, which ignores rounds in which one run was disturbed. */
function ratioOf(starts: Start[], version: "new" | "old again", read: Read): Ratio {
  const medians = starts.map((rounds) =>
    median(rounds.map((round) => read(round[version]) / referenceOf(round, version, read))),
  );
  const bestOf = (one: Version) => read(best(starts.flat().map((round) => round[one])));
  return { best: bestOf(version) / bestOf("old"), ...estimate(medians) };
}

/** The new version is compared with the average of both runs of the old one, which scatters less. */
function referenceOf(round: Round, version: "new" | "old again", read: Read): number {
  const old = read(round.old);
  return version === "new" ? Math.sqrt(old * read(round["old again"])) : old;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/**
 * Estimates the median of the distribution that the values come from, by Hodges and Lehmann: the
 * median of the averages of all pairs. It needs a third fewer values than their own median for an
 * interval of the same width. The interval is that of Wilcoxon's signed-rank test. Fewer than six
 * values have none.
 */
export function estimate(values: number[]): Pick<Ratio, "median" | "interval"> {
  const averages = values
    .flatMap((one, at) => values.slice(at).map((other) => (one + other) / 2))
    .sort((one, other) => one - other);
  const count = values.length;
  const deviation = Math.sqrt((count * (count + 1) * (2 * count + 1)) / 24);
  const outside = Math.floor(averages.length / 2 - 1.96 * deviation);
  const interval =
    outside < 1
      ? undefined
      : { low: averages[outside - 1]!, high: averages[averages.length - outside]! };
  return { median: median(averages), interval };
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
