import { capitalized } from "../texts/capitalized.ts";
import { formatCount } from "../texts/numbers.ts";
import { dayAndTime } from "../texts/times.ts";
import { ChartTable } from "./chart-table.tsx";
import { groupBars } from "./groups.ts";
import { Legend } from "./legend.tsx";
import { Axes, layOut, type Plot, useWidth } from "./plot.tsx";
import { Readout } from "./readout.tsx";
import { dayMs } from "./scales.ts";
import type { BarChartProps } from "./types.ts";

const barWidthMin = 5;
const dayFormat = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  timeZone: "UTC",
});

/** Sums at regular times as bars. Each bar has the sums of all series on top of each other. */
export default function BarChart(props: BarChartProps) {
  const { title, series, stepMs, emptyText, height = 200 } = props;
  const { element, width } = useWidth();
  const bars = groupBars(props, Math.max(1, Math.floor((width - 60) / barWidthMin)));
  const until = bars.from + bars.count * bars.stepMs;
  const plot = layOut({ width, height, from: bars.from, until, max: bars.max });
  const isUtc = stepMs >= dayMs;
  const timeOf = (bar: number) => periodText(bars.from + bar * bars.stepMs, bars.stepMs);
  const valuesOf = (bar: number) => bars.sums.map((sums) => sums[bar] ?? 0);
  return (
    <figure class="chart">
      {series.length > 1 && <Legend series={series} />}
      <div ref={element} class="chart-size" style={{ height: `${height}px` }}>
        {width > 0 && (
          <Readout
            title={title}
            plot={plot}
            count={bars.count}
            indexAt={(x) => Math.floor(((x - plot.left) / (plot.right - plot.left)) * bars.count)}
            xOf={(bar) => plot.x(bars.from + (bar + 0.5) * bars.stepMs)}
            linesOf={(bar) => [
              timeOf(bar),
              ...valuesOf(bar).map((value, place) => {
                return `${formatCount(value)} ${series[place]!.name}`;
              }),
            ]}
          >
            <svg width={width} height={height} aria-hidden="true">
              <Axes plot={plot} isUtc={isUtc} />
              {barPaths(plot, bars).map((path, place) => (
                <path key={series[place]!.name} class={`series-${series[place]!.color}`} d={path} />
              ))}
            </svg>
            {bars.max === 0 && <p class="chart-empty">{emptyText}</p>}
          </Readout>
        )}
      </div>
      <ChartTable
        title={title}
        columns={["Time", ...series.map(({ name }) => capitalized(name))]}
        count={bars.count}
        rowOf={(row) => {
          const bar = bars.count - 1 - row;
          return [timeOf(bar), ...valuesOf(bar).map((value) => formatCount(value))];
        }}
      />
    </figure>
  );
}

/** One path for each series, because hundreds of elements would be slow. */
function barPaths(plot: Plot, { from, stepMs, count, sums }: ReturnType<typeof groupBars>) {
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
