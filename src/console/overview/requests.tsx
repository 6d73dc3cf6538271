import { BarChart } from "../charts/bars.tsx";
import type { TotalUsage } from "../client/types.ts";
import { Card } from "../parts/card.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";

const pollMs = 60_000;

/** All requests of the last 24 hours. */
export function Requests() {
  const source = usePolled<TotalUsage>("/usage?step=minute", pollMs);
  return (
    <Card title="Requests in the last 24 hours">
      <WhenLoaded source={source}>{(counts) => <Counts counts={counts} />}</WhenLoaded>
    </Card>
  );
}

function Counts({ counts }: { readonly counts: TotalUsage }) {
  const { admitted, refused, withoutKey, from } = counts;
  return (
    <BarChart
      title="Requests in the last 24 hours"
      from={Date.parse(from)}
      stepMs={60_000}
      series={[
        { name: "accepted", color: 1, values: admitted },
        { name: "over a limit", color: 4, values: refused },
        { name: "without a valid key", color: 3, values: withoutKey },
      ]}
      emptyText="No requests yet"
    />
  );
}
