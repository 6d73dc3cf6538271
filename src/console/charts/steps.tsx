import { formatCount } from "../texts/formats.ts";
import { dayAndTime } from "../texts/times.ts";
import { layOut, type Plot, useWidth } from "./plot.tsx";
import { Readout } from "./readout.tsx";

/** A number that holds from a time until the next point. */
interface StepPoint {
  readonly at: number;
  /** Null if there was no number from this time on. */
  readonly value: number | null;
  /** More about the change, for the readout. */
  readonly note: string;
}

interface Props {
  readonly title: string;
  /** At least one, by ascending time. */
  readonly points: readonly StepPoint[];
  /** The end of the time axis, in milliseconds. */
  readonly until: number;
}

const height = 240;

/** A number over time that changes in steps. Gaps are times without a number. */
export function StepChart({ title, points, until }: Props) {
  const { element, width } = useWidth();
  const from = points[0]!.at;
  const max = Math.max(0, ...points.map(({ value }) => value ?? 0));
  // Right after the first change there is no time to draw yet.
  const plot = layOut({ width, height, from, until: Math.max(until, from + 1_000), max });
  const { line, area } = stepPaths(plot, points);
  return (
    <figure class="chart">
      <div ref={element} style={{ height: `${height}px` }}>
        {width > 0 && (
          <Readout
            title={title}
            plot={plot}
            count={points.length}
            indexAt={(x) => lastBefore(points, plot, x)}
            xOf={(index) => plot.x(points[index]!.at)}
            linesOf={(index) => {
              const { at, value, note } = points[index]!;
              return [dayAndTime(at), value === null ? "none" : formatCount(value), note];
            }}
          >
            <path class="step-area" d={area} />
            <path class="step-line" d={line} />
            {points.length <= dotsMax &&
              points.map(({ at, value }, index) => (
                <circle
                  key={index}
                  class="step-dot"
                  cx={plot.x(at)}
                  cy={plot.y(value ?? 0)}
                  r={3}
                />
              ))}
          </Readout>
        )}
      </div>
    </figure>
  );
}

/** With more changes than this, the dots would hide the line. */
const dotsMax = 60;

function lastBefore(points: readonly StepPoint[], plot: Plot, x: number): number {
  const index = points.findLastIndex(({ at }) => plot.x(at) <= x + 4);
  return Math.max(0, index);
}

function stepPaths(plot: Plot, points: readonly StepPoint[]): { line: string; area: string } {
  let [line, area] = ["", ""];
  let isDrawing = false;
  points.forEach(({ at, value }, index) => {
    const start = plot.x(at).toFixed(1);
    const end = plot.x(points[index + 1]?.at ?? plot.until).toFixed(1);
    if (value === null) {
      isDrawing = false;
      return;
    }
    const y = plot.y(value).toFixed(1);
    line += `${isDrawing ? "L" : "M"}${start} ${y}H${end}`;
    area += `M${start} ${plot.bottom}V${y}H${end}V${plot.bottom}Z`;
    isDrawing = true;
  });
  return { line, area };
}
