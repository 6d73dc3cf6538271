import { useSignal } from "@preact/signals";
import { dayMs } from "../../domain/values/times.ts";
import { type Column, Table } from "../parts/table.tsx";
import { capitalized, formatCount } from "../texts/formats.ts";
import { dayAndTime } from "../texts/times.ts";
import { type Bars, groupBars, type Series } from "./groups.ts";
import { layOut, type Plot, useWidth } from "./plot.tsx";
import { Readout } from "./readout.tsx";

interface Props {
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
}

const height = 200;
const barWidthMin = 5;
const dayFormat = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  timeZone: "UTC",
});

/**
 * Sums at regular times as bars. Each bar has the sums of all series on top of each other. Neighbouring
 * values are added up until the bars fit.
 */
export function BarChart(props: Props) {
  const { title, series, stepMs, emptyText } = props;
  const { element, width } = useWidth();
  const bars = groupBars(props, Math.max(1, Math.floor((width - 60) / barWidthMin)));
  const until = bars.from + bars.count * bars.stepMs;
  const plot = layOut({ width, height, from: bars.from, until, max: bars.max });
  const timeOf = (bar: number) => periodText(bars.from + bar * bars.stepMs, bars.stepMs);
  return (
    <figure class="chart">
      {series.length > 1 && <Legend series={series} />}
      <div ref={element} style={{ height: `${height}px` }}>
        {width > 0 && (
          <Readout
            title={title}
            plot={plot}
            isUtc={stepMs >= dayMs}
            note={bars.max === 0 && <p class="empty chart-empty">{emptyText}</p>}
            count={bars.count}
            indexAt={(x) => Math.floor(((x - plot.left) / (plot.right - plot.left)) * bars.count)}
            xOf={(bar) => plot.x(bars.from + (bar + 0.5) * bars.stepMs)}
            linesOf={(bar) => [
              timeOf(bar),
              ...series.map(({ name }, place) => `${formatCount(bars.sums[place]![bar]!)} ${name}`),
            ]}
          >
            {barPaths(plot, bars).map((path, place) => (
              <path key={series[place]!.name} fill={colorOf(series[place]!)} d={path} />
            ))}
          </Readout>
        )}
      </div>
      <AsTable title={title} bars={bars} series={series} timeOf={timeOf} />
    </figure>
  );
}

interface AsTableProps extends Pick<Props, "title" | "series"> {
  readonly bars: Bars;
  readonly timeOf: (bar: number) => string;
}

/** The same numbers as a table, the newest first. Its rows exist only while it is open. */
function AsTable({ title, bars, series, timeOf }: AsTableProps) {
  const isOpen = useSignal(false);
  const columns: readonly Column<number>[] = [
    { title: "Time", cell: timeOf },
    ...series.map(({ name }, place) => ({
      title: capitalized(name),
      isNumber: true,
      cell: (bar: number) => formatCount(bars.sums[place]![bar]!),
    })),
  ];
  return (
    <details
      class="chart-table small"
      onToggle={(event) => (isOpen.value = event.currentTarget.open)}
    >
      <summary class="muted">Show as a table</summary>
      {isOpen.value && (
        <Table
          class=""
          scrollLabel={`${title}, as a table`}
          rows={Array.from({ length: bars.count }, (_, index) => bars.count - 1 - index)}
          keyOf={(bar) => bar}
          columns={columns}
        />
      )}
    </details>
  );
}

/** Which color stands for what, and the sum of each series. */
function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <figcaption class="chart-legend row small">
      {series.map(({ name, color, values }) => (
        <span key={name}>
          <span class="legend-mark" style={{ background: colorOf({ color }) }} />
          <strong>{formatCount(values.reduce((sum, value) => sum + value, 0))}</strong>{" "}
          <span class="muted">{name}</span>
        </span>
      ))}
    </figcaption>
  );
}

function colorOf({ color }: Pick<Series, "color">): string {
  return `var(--chart-${color})`;
}

/** One path for each series, because hundreds of elements would be slow. */
function barPaths(plot: Plot, { from, stepMs, count, sums }: Bars) {
  const heights = new Array<number>(count).fill(0);
  return sums.map((values) => {
    let path = "";
    values.forEach((value, bar) => {
      if (value === 0) return;
      const [start, end] = [plot.x(from + bar * stepMs), plot.x(from + (bar + 1) * stepMs)];
      const gap = Math.min(2, (end - start) * 0.2);
      const bottom = plot.y(heights[bar]!);
      heights[bar]! += value;
      const top = Math.min(plot.y(heights[bar]!), bottom - 1);
      path += `M${start.toFixed(1)} ${bottom.toFixed(1)}V${top.toFixed(1)}H${(end - gap).toFixed(1)}V${bottom.toFixed(1)}Z`;
    });
    return path;
  });
}

function periodText(at: number, stepMs: number): string {
  if (stepMs < dayMs) {
    const end = new Date(at + stepMs).toLocaleTimeString(undefined, shortClock);
    return `${dayAndTime(at).replace(/:\d\d(?=$|\s)/, "")} – ${end}`;
  }
  const start = dayFormat.format(at);
  return stepMs === dayMs ? start : `${start} – ${dayFormat.format(at + stepMs - dayMs)}`;
}

const shortClock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
