/** A measurement over time. */
export interface Point {
  readonly seconds: number;
  readonly value: number;
}

export interface Trend {
  readonly median: number;
  /** How much it rises in an hour. */
  readonly perHour: number;
  /** How much it has risen at least, with a certainty of 97.5 %, from the first to the last point. */
  readonly riseMin: number;
}

/**
 * The slope by Theil and Sen: the median of the slopes between all pairs, which outliers do not move. Its
 * lower bound is that of Sen, from the variance of Kendall's rank correlation.
 */
export function trendOf(points: readonly Point[]): Trend {
  const slopes = sorted(
    points.flatMap((first, at) =>
      points
        .slice(at + 1)
        .map((second) => (second.value - first.value) / (second.seconds - first.seconds)),
    ),
  );
  const count = points.length;
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const lowest = Math.max(0, Math.floor((slopes.length - 1.96 * deviation) / 2));
  const seconds = points.at(-1)!.seconds - points[0]!.seconds;
  const values = sorted(points.map(({ value }) => value));
  return {
    median: values[count >> 1]!,
    perHour: slopes[slopes.length >> 1]! * 3_600,
    riseMin: slopes[lowest]! * seconds,
  };
}

function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
