import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { shortNumber, timeTicks, valueTicks } from "./scales.ts";

/** The area in which values are drawn, in pixels from the left top of the chart. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly from: number;
  readonly until: number;
  readonly ticks: readonly number[];
  x(at: number): number;
  y(value: number): number;
}

interface PlotRange {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly until: number;
  /** The largest value. */
  readonly max: number;
}

const digitWidth = 7;
const timeAxisHeight = 24;

export function layOut({ width, height, from, until, max }: PlotRange): Plot {
  const ticks = valueTicks(max);
  const digits = Math.max(...ticks.map((tick) => shortNumber(tick).length));
  const [left, top] = [digits * digitWidth + 10, 8];
  const [right, bottom] = [Math.max(left + 1, width - 8), height - timeAxisHeight];
  const range = Math.max(1, until - from);
  return {
    ...{ left, top, right, bottom, from, until, ticks },
    x: (at) => left + ((at - from) / range) * (right - left),
    y: (value) => bottom - (value / ticks.at(-1)!) * (bottom - top),
  };
}

/** The width of an element in pixels, also after it changes. 0 until it is known. */
export function useWidth(): { element: RefObject<HTMLDivElement | null>; width: number } {
  const element = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry!.contentRect.width);
    });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [width]);
  return { element, width: width.value };
}

const labelWidth = 84;

/** The lines behind the values, and what they stand for. */
export function Axes({ plot, isUtc }: { readonly plot: Plot; readonly isUtc: boolean }) {
  const { left, right, bottom, from, until } = plot;
  const countMax = Math.floor((right - left) / labelWidth);
  return (
    <g class="chart-axes">
      {plot.ticks.map((tick) => (
        <g key={tick}>
          <line x1={left} x2={right} y1={plot.y(tick)} y2={plot.y(tick)} />
          <text x={left - 8} y={plot.y(tick)} dy="0.32em" text-anchor="end">
            {shortNumber(tick)}
          </text>
        </g>
      ))}
      {timeTicks(from, until, countMax, isUtc).map(({ at, label }) => (
        <text
          key={at}
          x={Math.min(plot.x(at), right)}
          y={bottom + 17}
          text-anchor={anchorOf(plot, at)}
        >
          {label}
        </text>
      ))}
    </g>
  );
}

/** Labels at the ends stay inside the chart. */
function anchorOf(plot: Plot, at: number): "start" | "middle" | "end" {
  const x = plot.x(at);
  if (x < plot.left + labelWidth / 4) return "start";
  return x > plot.right - labelWidth / 4 ? "end" : "middle";
}
