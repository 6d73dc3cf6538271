import { minuteMs } from "../../domain/values/times.ts";
import type { TotalUsage, Usage } from "../client/types.ts";
import { usePolled, WhenLoaded } from "../parts/loaded.tsx";
import { BarChart } from "./bars.tsx";

const stepMsOf = { minute: minuteMs, day: 1_440 * minuteMs };

interface Props {
  /** Where the API has the numbers. */
  readonly path: string;
  readonly title: string;
  readonly emptyText: string;
}

/** The requests of one key, or of all, over time. */
export function UsageChart({ path, title, emptyText }: Props) {
  const source = usePolled<Usage | TotalUsage>(path, minuteMs);
  return (
    <WhenLoaded source={source}>
      {(usage) => (
        <BarChart
          title={title}
          from={Date.parse(usage.from)}
          stepMs={stepMsOf[usage.step]}
          series={[
            { name: "accepted", color: 1, values: usage.admitted },
            { name: "over a limit", color: 4, values: usage.refused },
            ...("withoutKey" in usage
              ? [{ name: "without a valid key", color: 3, values: usage.withoutKey } as const]
              : []),
          ]}
          emptyText={emptyText}
        />
      )}
    </WhenLoaded>
  );
}
