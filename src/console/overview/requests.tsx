import { BarChart } from "../charts/lazy.tsx";
import { request } from "../client/api.ts";
import type { TotalUsage } from "../client/types.ts";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";

const pollMs = 60_000;

/** All requests of the last 24 hours. */
export function Requests() {
  const source = usePolled(
    (signal) => request<TotalUsage>("/usage?step=minute", { signal }),
    [],
    pollMs,
  );
  return (
    <section class="card" aria-labelledby="requests-title">
      <h2 class="card-title" id="requests-title">
        Requests in the last 24 hours
      </h2>
      <WhenLoaded source={source}>{(counts) => <Counts counts={counts} />}</WhenLoaded>
    </section>
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
