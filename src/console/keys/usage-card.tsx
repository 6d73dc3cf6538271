import { useSignal } from "@preact/signals";
import { BarChart } from "../charts/lazy.tsx";
import { request } from "../client/api.ts";
import type { Usage } from "../client/types.ts";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";

const minuteMs = 60_000;
const stepMsOf = { minute: minuteMs, day: 1_440 * minuteMs };
const spans = [
  { step: "minute", text: "24 hours" },
  { step: "day", text: "13 months" },
] as const;

/** The requests of a key, accepted and over a limit, in the last 24 hours or 13 months. */
export function UsageCard({ id }: { readonly id: string }) {
  const span = useSignal<(typeof spans)[number]>(spans[0]);
  const { step, text } = span.value;
  const source = usePolled(
    (signal) => request<Usage>(`/keys/${id}/usage?step=${step}`, { signal }),
    [id, step],
    minuteMs,
  );
  return (
    <section class="card wide-section">
      <div class="spread">
        <h2 class="card-title">Requests</h2>
        <fieldset class="button-group" aria-label="Time span">
          {spans.map((one) => (
            <button
              type="button"
              key={one.step}
              class="button small"
              aria-pressed={one.step === step}
              onClick={() => {
                span.value = one;
              }}
            >
              {one.text}
            </button>
          ))}
        </fieldset>
      </div>
      <WhenLoaded source={source}>
        {(usage) => (
          <BarChart
            title={`Requests in the last ${text}`}
            from={Date.parse(usage.from)}
            stepMs={stepMsOf[usage.step]}
            series={[
              { name: "accepted", color: 1, values: usage.admitted },
              { name: "over a limit", color: 4, values: usage.refused },
            ]}
            emptyText={`No requests in the last ${text}`}
          />
        )}
      </WhenLoaded>
    </section>
  );
}
