/** Which of the four colors of charts. */
export type SeriesColor = 1 | 2 | 3 | 4;

/** Numbers at regular times, for example the requests of each minute. */
export interface Series {
  readonly name: string;
  readonly color: SeriesColor;
  readonly values: readonly number[];
}

export interface BarChartProps {
  /** What the chart shows. Screen readers say it. */
  readonly title: string;
  /** The time of the first value, in milliseconds. */
  readonly from: number;
  /** The time between two values. Steps of a day are days in UTC. */
  readonly stepMs: number;
  /** Drawn on top of each other. All have as many values. */
  readonly series: readonly Series[];
  /** Shown instead of bars if all values are 0. */
  readonly emptyText: string;
  /** In pixels. */
  readonly height?: number;
}

/** A number that holds from a time until the next point. */
export interface StepPoint {
  readonly at: number;
  /** Null if there was no number from this time on. */
  readonly value: number | null;
  /** More about the change, for the readout. */
  readonly note: string;
}

export interface StepChartProps {
  readonly title: string;
  /** By ascending time. */
  readonly points: readonly StepPoint[];
  /** The end of the time axis, in milliseconds. */
  readonly until: number;
  readonly height?: number;
}

export interface SparklineProps {
  readonly title: string;
  readonly values: readonly number[];
}
