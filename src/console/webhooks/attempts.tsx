import type { WebhookAttempt } from "../client/types.ts";
import { Time } from "../parts/time.tsx";
import { changeNumber, countOf, formatCount } from "../texts/numbers.ts";

export function Attempts({ attempts }: { readonly attempts: readonly WebhookAttempt[] }) {
  if (attempts.length === 0) {
    return (
      <p class="muted">Nothing has been sent yet. The next matching change is sent at once.</p>
    );
  }
  return (
    <div class="table-wrap">
      <table class="table card-table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Changes</th>
            <th scope="col">Result</th>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col">Response</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt) => (
            <tr key={attempt.at + attempt.messageId}>
              <td data-label="When" class="attempt-time">
                <Time at={attempt.at} />
              </td>
              <td data-label="Changes" title={attempt.messageId}>
                {rangeOf(attempt)}
              </td>
              <td data-label="Result">
                <Result {...attempt} />
              </td>
              <td data-label="Duration" class="number">
                {formatCount(attempt.durationMs)} ms
              </td>
              <td data-label="Response" class="attempt-answer">
                <Answer text={attempt.answer} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

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
