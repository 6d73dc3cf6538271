import { formatCount } from "../texts/numbers.ts";
import type { Series } from "./types.ts";

/** Which color stands for what, and the sum of each series. */
export function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <figcaption class="chart-legend row small">
      {series.map(({ name, color, values }) => (
        <span key={name}>
          <span class={`legend-mark mark-${color}`} />
          <strong>{formatCount(values.reduce((sum, value) => sum + value, 0))}</strong>{" "}
          <span class="muted">{name}</span>
        </span>
      ))}
    </figcaption>
  );
}
