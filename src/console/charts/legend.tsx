import type { Series } from "./types.ts";

/** Which color stands for what. The readout and the table name the series, so it is not spoken. */
export function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <div class="chart-legend row small muted" aria-hidden="true">
      {series.map(({ name, color }) => (
        <span key={name}>
          <span class={`legend-mark mark-${color}`} />
          {name}
        </span>
      ))}
    </div>
  );
}
