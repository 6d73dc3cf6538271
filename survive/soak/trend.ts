/** A measurement over time. */
export interface Point {
  readonly seconds: number;
  readonly value: number;
}

export interface Trend {
  readonly median: number;
  /** How much it rises in an hour. */
  readonly perHour: number;
  /** How much it has risen from the first to the last point. */
  readonly rise: number;
}

/** The slope by Theil and Sen: the median of the slopes between all pairs, which outliers do not move. */
export function trendOf(points: readonly Point[]): Trend {
  const slopes = points.flatMap((first, at) =>
    points
      .slice(at + 1)
      .map((second) => (second.value - first.value) / (second.seconds - first.seconds)),
  );
  const perSecond = slopes.length === 0 ? 0 : medianOf(slopes);
  const seconds = points.at(-1)!.seconds - points[0]!.seconds;
  return {
    median: medianOf(points.map(({ value }) => value)),
    perHour: perSecond * 3_600,
    rise: perSecond * seconds,
  };
}

export function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
