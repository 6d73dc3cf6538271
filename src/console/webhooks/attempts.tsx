import type { WebhookAttempt } from "../client/types.ts";
import { showError, showSuccess } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { changeNumber, countOf, formatCount } from "../texts/formats.ts";

interface Props {
  readonly attempts: readonly WebhookAttempt[];
  readonly isBusy: boolean;
  readonly resend: (attempt: WebhookAttempt) => void;
}

export function Attempts({ attempts, isBusy, resend }: Props) {
  if (attempts.length === 0) {
    return (
      <p class="muted">Nothing has been sent yet. The next matching change is sent at once.</p>
    );
  }
  const keyOf = ({ at, messageId }: WebhookAttempt) => at + messageId;
  const again: Column<WebhookAttempt> = {
    ...{ title: "Again", isTitleHidden: true },
    cell: (attempt) =>
      attempt.changes > 0 && (
        <Button isSmall isDisabled={isBusy} onClick={() => resend(attempt)}>
          Send again
        </Button>
      ),
  };
  return <Table rows={attempts} keyOf={keyOf} columns={[...columns, again]} />;
}

/** Says how a message went that was sent from here. Its attempt is in the list. */
export function showResult({ status, error, durationMs }: WebhookAttempt): void {
  const result = status === null ? `did not respond: ${error}` : `responded with ${status}`;
  const show = isDelivered(status) ? showSuccess : showError;
  show(`The receiver ${result} (${formatCount(durationMs)} ms)`);
}

const isDelivered = (status: number | null) => status !== null && status >= 200 && status < 300;

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
  if (changes === 0) return "Test";
  if (firstSeq === lastSeq) return changeNumber(firstSeq);
  return `${changeNumber(firstSeq)} to ${changeNumber(lastSeq)} (${countOf(changes, "change")})`;
}

function Result({ status, error }: Pick<WebhookAttempt, "status" | "error">) {
  const [tone, text] = isDelivered(status) ? ["success", "Delivered"] : ["danger", "Failed"];
  return (
    <span class="row">
      <span class={`badge ${tone}`}>{text}</span>
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
