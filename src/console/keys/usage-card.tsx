import { useSignal } from "@preact/signals";
import { UsageChart } from "../charts/usage.tsx";
import type { UsageStep } from "../client/types.ts";
import { Card } from "../parts/card.tsx";
import { ButtonGroup, choicesOf, keptIn } from "../parts/choices.tsx";

const spans: Readonly<Record<UsageStep, string>> = { minute: "24 hours", day: "13 months" };

/** The requests of a key, accepted and over a limit, in the last 24 hours or 13 months. */
export function UsageCard({ id }: { readonly id: string }) {
  const step = useSignal<UsageStep>("minute");
  const text = spans[step.value];
  return (
    <Card
      title="Requests"
      class="wide-section"
      aside={<ButtonGroup label="Time span" choices={choicesOf(spans)} {...keptIn(step)} />}
    >
      <UsageChart
        path={`/keys/${id}/usage?step=${step.value}`}
        title={`Requests in the last ${text}`}
        emptyText={`No requests in the last ${text}`}
      />
    </Card>
  );
}
