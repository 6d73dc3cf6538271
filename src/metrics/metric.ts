export type MetricKind = "counter" | "gauge" | "histogram";

/** One row of the table of metrics. */
export interface Metric {
  readonly name: string;
  readonly kind: MetricKind;
  readonly help: string;
  readonly labels: readonly string[];
  /** Of a histogram: the upper bounds of its buckets, ascending, without infinity. */
  readonly bounds: readonly number[];
  /** The engine that has it, if only one does. */
  readonly engine: "sqlite" | "postgres" | undefined;
}

type Others = Partial<Pick<Metric, "labels" | "bounds" | "engine">>;

const metric =
  (kind: MetricKind) =>
  (name: string, help: string, others: Others = {}): Metric => ({
    name,
    kind,
    help,
    labels: [],
    bounds: [],
    engine: undefined,
    ...others,
  });

export const counter = metric("counter");
export const gauge = metric("gauge");
export const histogram = metric("histogram");
