import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import type { BarChartProps, StepChartProps } from "./types.ts";

// The charts are drawn by code that is loaded when the first one appears.

/** Draws numbers at regular times as bars. Neighbouring ones are added up until they fit. */
export function BarChart(props: BarChartProps) {
  return <Drawn load={loadBars} props={props} height={props.height ?? 200} />;
}

/** Draws a number that changes in steps. */
export function StepChart(props: StepChartProps) {
  return <Drawn load={loadSteps} props={props} height={props.height ?? 240} />;
}

const loadBars = () => import("./bars.tsx");
const loadSteps = () => import("./steps.tsx");

interface DrawnProps<Props> {
  readonly load: () => Promise<{ readonly default: ComponentType<Props> }>;
  readonly props: Props;
  readonly height: number;
}

function Drawn<Props extends object>({ load, props, height }: DrawnProps<Props>) {
  const loaded = useSignal<ComponentType<Props> | undefined>(undefined);
  const isFailed = useSignal(false);
  const start = () => {
    isFailed.value = false;
    load().then(
      (module) => {
        loaded.value = module.default;
      },
      () => {
        isFailed.value = true;
      },
    );
  };
  useEffect(start, [load]);
  const Chart = loaded.value;
  if (Chart) return <Chart {...props} />;
  return (
    <div class="chart-waiting" style={{ height: `${height}px` }}>
      {isFailed.value && (
        <p class="row muted">
          The chart could not be loaded.
          <button type="button" class="button small" onClick={start}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}
