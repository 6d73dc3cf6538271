import { dayMs } from "../../domain/values/times.ts";

/** Numbers at regular times, for example the requests of each minute. */
export interface Series {
  readonly name: string;
  /** The number of a chart color. */
  readonly color: 1 | 3 | 4;
  readonly values: readonly number[];
}

/** How many minutes, or days, one bar can stand for. */
const minutesPerBar = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440];
const daysPerBar = [1, 2, 7, 14, 28, 56];

export interface Bars {
  /** The time of the first bar. */
  readonly from: number;
  readonly stepMs: number;
  /** The number of bars. */
  readonly count: number;
  /** For each series, the sum of every bar. */
  readonly sums: readonly (readonly number[])[];
  /** The largest sum over all series. */
  readonly max: number;
}

/** Adds up neighbouring values, so that there are at most `barsMax` bars. */
export function groupBars(
  { from, stepMs, series }: { from: number; stepMs: number; series: readonly Series[] },
  barsMax: number,
): Bars {
  const length = series[0]?.values.length ?? 0;
  const sizes = stepMs >= dayMs ? daysPerBar : minutesPerBar;
  const size = sizes.find((candidate) => length / candidate <= barsMax) ?? sizes.at(-1)!;
  // Bars start at round times, so the first one can be incomplete.
  const offset = Math.floor(from / stepMs) % size;
  const count = Math.ceil((length + offset) / size);
  const sums = series.map(({ values }) => {
    const bars = new Array<number>(count).fill(0);
    values.forEach((value, index) => {
      bars[Math.floor((index + offset) / size)]! += value;
    });
    return bars;
  });
  const totals = Array.from({ length: count }, (_, bar) =>
    sums.reduce((total, bars) => total + bars[bar]!, 0),
  );
  return {
    from: from - offset * stepMs,
    stepMs: stepMs * size,
    count,
    sums,
    max: Math.max(0, ...totals),
  };
}
