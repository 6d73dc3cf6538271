import type { Metric } from "./metric.ts";

/** One value with its labels. Its owner adds to it or sets it; undefined is not exposed. */
export interface Series {
  value: number | undefined;
}

/** A series that always has a value. */
export interface Counter {
  value: number;
}

export interface Histogram {
  observe(value: number): void;
}

export type Registry = ReturnType<typeof createRegistry>;

/** The values of the metric's labels, in their order. */
type Labels = readonly string[];

/** A metric with all its series. */
export interface Family {
  readonly metric: Metric;
  readonly series: ReadonlyMap<string, Exposed>;
}

/** The labels of a series are the key of its family's map. */
export type Exposed = Readonly<Series> | HistogramState;

export interface HistogramState extends Histogram {
  /** Observations per bucket, not cumulative. The last bucket has no bound. */
  readonly counts: Float64Array;
  readonly sum: number;
}

/** The values of one process. Series of the same metric are exposed in the order of their creation. */
export function createRegistry(order: readonly Metric[]) {
  const families = new Map<Metric, Map<string, Exposed>>();

  function add<T extends Exposed>(metric: Metric, labels: readonly string[], made: T): T {
    const key = labelsText(metric, labels);
    const series = families.get(metric) ?? new Map<string, Exposed>();
    families.set(metric, series);
    if (series.has(key)) throw new Error(`${metric.name}{${key}} exists`);
    series.set(key, made);
    return made;
  }

  return {
    counter: (metric: Metric, ...labels: Labels): Counter => add(metric, labels, { value: 0 }),
    gauge: (metric: Metric, ...labels: Labels): Series => add(metric, labels, { value: undefined }),
    histogram: (metric: Metric, ...labels: Labels): Histogram =>
      add(metric, labels, createHistogram(metric.bounds)),
    /** A series whose value is read when it is exposed. `read` must be fast. */
    read(metric: Metric, read: () => number | undefined, ...labels: Labels): void {
      add(metric, labels, {
        get value() {
          return read();
        },
      });
    },
    get families(): readonly Family[] {
      return order.flatMap((metric) => {
        const series = families.get(metric);
        return series ? [{ metric, series }] : [];
      });
    },
  };
}

function createHistogram(bounds: readonly number[]): HistogramState {
  const state = {
    counts: new Float64Array(bounds.length + 1),
    sum: 0,
    observe(value: number) {
      let bucket = 0;
      while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1;
      state.counts[bucket]! += 1;
      state.sum += value;
    },
  };
  return state;
}

/** Written once per series, not once per exposition. */
function labelsText({ name, labels: names }: Metric, values: readonly string[]): string {
  if (names.length !== values.length) throw new Error(`${name} has ${names.length} labels`);
  return names.map((label, at) => `${label}="${escapeLabel(values[at]!)}"`).join(",");
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
