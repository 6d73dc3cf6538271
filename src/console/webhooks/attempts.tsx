import type { WebhookAttempt } from "../client/types.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { changeNumber, countOf, formatCount } from "../texts/formats.ts";

export function Attempts({ attempts }: { readonly attempts: readonly WebhookAttempt[] }) {
  if (attempts.length === 0) {
    return (
      <p class="muted">Nothing has been sent yet. The next matching change is sent at once.</p>
    );
  }
  return <Table rows={attempts} keyOf={({ at, messageId }) => at + messageId} columns={columns} />;
}

const columns: readonly Column<WebhookAttempt>[] = [
  { title: "When", class: "nowrap", cell: ({ at }) => <Time at={at} /> },
  {
    title: "Changes",
    cell: (attempt) => <span title={attempt.messageId}>{rangeOf(attempt)}</span>,
  },
  { title: "Result", cell: (attempt) => <Result {...attempt} /> },
  { title: "Duration", isNumber: true, cell: ({ durationMs }) => `${formatCount(durationMs)} ms` },
  { title: "Response", class: "attempt-answer", cell: ({ answer }) => <Answer text={answer} /> },
];

/** For example "#17 to #20", which may be two changes if the filter left out the others. */
function rangeOf({ firstSeq, lastSeq, changes }: WebhookAttempt): string {
  if (firstSeq === lastSeq) return changeNumber(firstSeq);
  return `${changeNumber(firstSeq)} to ${changeNumber(lastSeq)} (${countOf(changes, "change")})`;
}

function Result({ status, error }: Pick<WebhookAttempt, "status" | "error">) {
  const isDelivered = status !== null && status >= 200 && status < 300;
  return (
    <span class="row">
      <span class={`badge ${isDelivered ? "success" : "danger"}`}>
        {isDelivered ? "Delivered" : "Failed"}
      </span>
      {status !== null && <span class="mono">{status}</span>}
      {error !== null && <bdi class="small">{error}</bdi>}
    </span>
  );
}

function Answer({ text }: { readonly text: string }) {
  if (text === "") return <span class="muted">Empty</span>;
  if (text.length <= 40 && !text.includes("\n")) return <bdi class="mono small">{text}</bdi>;
  return (
    <details>
      <summary class="mono small">
        <bdi>{text.slice(0, 36)}…</bdi>
      </summary>
      <pre class="answer">{text}</pre>
    </details>
  );
}
