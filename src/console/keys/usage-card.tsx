import { useSignal } from "@preact/signals";
import { BarChart } from "../charts/bars.tsx";
import type { Usage, UsageStep } from "../client/types.ts";
import { Card } from "../parts/card.tsx";
import { ButtonGroup } from "../parts/choices.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";

const minuteMs = 60_000;
const stepMsOf = { minute: minuteMs, day: 1_440 * minuteMs };
const spanTexts = { minute: "24 hours", day: "13 months" };
const spans = [
  ["minute", spanTexts.minute],
  ["day", spanTexts.day],
] as const;

/** The requests of a key, accepted and over a limit, in the last 24 hours or 13 months. */
export function UsageCard({ id }: { readonly id: string }) {
  const step = useSignal<UsageStep>("minute");
  const text = spanTexts[step.value];
  const source = usePolled<Usage>(`/keys/${id}/usage?step=${step.value}`, minuteMs);
  return (
    <Card
      title="Requests"
      class="wide-section"
      aside={
        <ButtonGroup
          label="Time span"
          choices={spans}
          isChosen={(one) => one === step.value}
          choose={(one) => (step.value = one)}
        />
      }
    >
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
    </Card>
  );
}
