import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Axes, type Plot } from "./plot.tsx";

interface Props {
  readonly title: string;
  readonly plot: Plot;
  readonly isUtc?: boolean;
  /** The number of values that can be read, at least one. */
  readonly count: number;
  /** The value at a horizontal place, in pixels. */
  readonly indexAt: (x: number) => number;
  /** The place of a value, in pixels. */
  readonly xOf: (index: number) => number;
  /** One line for each part of the text. The first one is the time. */
  readonly linesOf: (index: number) => readonly string[];
  /** What is drawn: elements of an SVG image. */
  readonly children: ComponentChildren;
  /** Shown on top of the drawing. */
  readonly note?: ComponentChildren;
}

/**
 * Shows the exact value below the pointer or, by keyboard and for screen readers, at the place of a slider over
 * the values.
 */
export function Readout(props: Props) {
  const { title, plot, isUtc = false, count, indexAt, xOf, linesOf, children, note } = props;
  const chosen = useSignal<number | undefined>(undefined);
  const last = count - 1;
  const index = Math.min(chosen.value ?? last, last);
  const lines = linesOf(index);
  const move = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    chosen.value = Math.max(0, Math.min(last, indexAt(event.clientX - box.left)));
  };
  const hide = () => (chosen.value = undefined);
  const isShown = chosen.value !== undefined;
  const x = isShown ? xOf(index) : 0;
  const isRight = x > (plot.left + plot.right) / 2;
  return (
    <div class="chart-area" onPointerMove={move} onPointerDown={move} onPointerLeave={hide}>
      <input
        type="range"
        class="visually-hidden"
        aria-label={title}
        aria-valuetext={lines.join(", ")}
        max={last}
        value={index}
        onInput={(event) => (chosen.value = event.currentTarget.valueAsNumber)}
        onFocus={(event) => {
          if (event.currentTarget.matches(":focus-visible")) chosen.value = last;
        }}
        onBlur={hide}
      />
      <svg class="chart-drawing" aria-hidden="true">
        <Axes plot={plot} isUtc={isUtc} />
        {children}
      </svg>
      {note}
      {isShown && (
        <>
          <span class="chart-line" style={lineStyle(plot, x)} />
          <div class="popup chart-readout" style={boxStyle(plot, x, isRight)}>
            {lines.map((line, position) => (
              <div key={position} class={position === 0 ? "muted" : ""}>
                {line}
              </div>
            ))}
          </div>
        </>
      )}
    </div>
  );
}

const lineStyle = ({ top, bottom }: Plot, x: number) => ({
  transform: `translate(${x}px, ${top}px)`,
  height: `${bottom - top}px`,
});

const boxStyle = ({ top }: Plot, x: number, isRight: boolean) => ({
  transform: `translate(${isRight ? `calc(${x - 10}px - 100%)` : `${x + 10}px`}, ${top}px)`,
});
