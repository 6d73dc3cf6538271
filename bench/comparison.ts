// Compares two versions by paired ratios. Every round measures both versions one shortly after the
// other, so that slow drifts of the machine cancel out in the ratio of the round. The median of the
// ratios ignores the rounds in which only one of the two was disturbed.
import { best } from "./best.ts";
import type { Measured } from "./generator.ts";

/** The old version runs twice. The two differ only by noise. */
export const versions = ["old", "new", "old again"] as const;
export type Version = (typeof versions)[number];

/** One run of each version. */
export type Round = Record<Version, Measured>;

export interface Ratio {
  /** The ratio of the best runs of all rounds. */
  best: number;
  median: number;
  lowerQuartile: number;
  upperQuartile: number;
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

/** Compares CPU time and rate. Omits the CPU time where the system does not report it. */
export function compareVersions(
  scenario: { title: string; kind: "get" | "patch"; bound: number },
  rounds: Round[],
): Comparison[] {
  const { title, kind, bound } = scenario;
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
    const newToOld = ratioOf(rounds, "new", read);
    const oldToOld = ratioOf(rounds, "old again", read);
    if (Number.isNaN(newToOld.median) || Number.isNaN(oldToOld.median)) return [];
    const noise = Math.max(Math.abs(oldToOld.median - 1), uncertainty(newToOld, rounds.length));
    const result = judge(lossOf(newToOld.median), noise, bound);
    return { scenario: title, measure, rounds: rounds.length, newToOld, oldToOld, bound, result };
  });
}

function ratioOf(rounds: Round[], version: Version, read: (run: Measured) => number): Ratio {
  const ratios = rounds.map((round) => read(round[version]) / read(round.old));
  const bestOf = (one: Version) => read(best(rounds.map((round) => round[one])));
  return {
    best: bestOf(version) / bestOf("old"),
    median: quantile(ratios, 0.5),
    lowerQuartile: quantile(ratios, 0.25),
    upperQuartile: quantile(ratios, 0.75),
  };
}

/** Interpolates between the two nearest values. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)]!;
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at));
}

/** Half the 95 % confidence interval of the median, as in the notches of a box plot. */
function uncertainty({ lowerQuartile, upperQuartile }: Ratio, rounds: number): number {
  return (1.57 * (upperQuartile - lowerQuartile)) / Math.sqrt(rounds);
}

/** Noise larger than the bound leaves the result open, unless the loss is clear in spite of it. */
export function judge(loss: number, noise: number, bound: number): Result {
  if (loss - noise > bound) return "beyond";
  if (loss + noise <= bound) return "within";
  if (noise > bound) return "noise larger than the bound";
  return loss > bound ? "beyond" : "within";
}
