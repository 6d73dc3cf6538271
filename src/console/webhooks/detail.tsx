import { useSignal } from "@preact/signals";
import { AuditOfTarget } from "../audit/rows.tsx";
import { request } from "../client/api.ts";
import type {
  Webhook,
  WebhookAttempt,
  WebhookFilter,
  WebhookWithAttempts,
} from "../client/types.ts";
import { showError, showSuccess } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { Card, Facts } from "../parts/card.tsx";
import { FieldError, useSubmission } from "../parts/fields.tsx";
import { causeName } from "../parts/origins.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { ViewHead } from "../parts/view.tsx";
import { capitalized, changeNumber, countOf, formatCount } from "../texts/formats.ts";
import { RemoveWebhook, ReplayWebhook, RotateSecret } from "./dialogs.tsx";
import { HealthBadge, HealthText } from "./health.tsx";

interface Props {
  readonly webhook: WebhookWithAttempts;
  readonly reload: () => void;
}

type OpenDialog = "replay" | "rotate" | "remove" | undefined;

/** One webhook with its last attempts. */
export function WebhookDetail({ webhook, reload }: Props) {
  const open = useSignal<OpenDialog>(undefined);
  /** Counts what was done here, so that the audit log below is loaded again. */
  const actions = useSignal(0);
  const done = () => {
    actions.value += 1;
    reload();
  };
  const close = () => {
    open.value = undefined;
    done();
  };
  const { isBusy, error, run } = useSubmission();
  const post = (path: string, say: (attempt: WebhookAttempt) => void) =>
    run(async () => {
      say(await request(`/webhooks/${webhook.id}/${path}`, { method: "POST" }));
      done();
    });
  const resend = ({ messageId }: WebhookAttempt) =>
    post(`messages/${messageId}/resend`, showResult);
  const isActive = webhook.state === "active";
  const [action, isDone] = isActive ? ["Pause", "Paused"] : ["Resume", "Resumed"];
  const sayDone = () => showSuccess(`${isDone} ${webhook.name}`);
  return (
    <>
      <ViewHead title={webhook.name} badges={<HealthBadge {...webhook} />}>
        <div class="row">
          {error.value && <FieldError>{error.value}</FieldError>}
          <Button
            kind={isActive ? undefined : "primary"}
            isDisabled={isBusy.value}
            onClick={() => post(action.toLowerCase(), sayDone)}
          >
            {action}
          </Button>
          <Button isDisabled={isBusy.value} onClick={() => post("test", showResult)}>
            Send a test message
          </Button>
          <Button onClick={() => (open.value = "replay")}>Replay…</Button>
          <Button onClick={() => (open.value = "rotate")}>Rotate the secret…</Button>
          <Button onClick={() => (open.value = "remove")}>Remove…</Button>
        </div>
      </ViewHead>
      <div class="stack">
        <Card title="Details">
          <WebhookFacts webhook={webhook} />
        </Card>
        <Card title="Last attempts">
          <Attempts attempts={webhook.attempts} isBusy={isBusy.value} resend={resend} />
        </Card>
        <Card title="Changes to this webhook">
          <AuditOfTarget key={actions.value} target={webhook.id} />
        </Card>
      </div>
      {open.value === "replay" && <ReplayWebhook webhook={webhook} close={close} />}
      {open.value === "rotate" && <RotateSecret webhook={webhook} close={close} />}
      {open.value === "remove" && (
        <RemoveWebhook webhook={webhook} close={() => (open.value = undefined)} />
      )}
    </>
  );
}

function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, createdAt, cursor, behind, filter, oldSecretUntil } = webhook;
  const delivered = (
    <>
      {cursor === 0 ? "Nothing" : `Up to change ${changeNumber(cursor)}`}
      {behind > 0 && <span class="muted"> ({formatCount(behind)} behind)</span>}
    </>
  );
  const oldSecret = oldSecretUntil && (
    <>
      Also signs until <Time at={oldSecretUntil} />
    </>
  );
  return (
    <Facts
      facts={[
        ["URL", <bdi class="mono">{url}</bdi>],
        ["Deliveries", <HealthText webhook={webhook} />],
        ["Delivered", delivered],
        ["Changes", <bdi>{describeFilter(filter)}</bdi>],
        oldSecret ? ["Old secret", oldSecret] : undefined,
        ["Created", <Time at={createdAt} />],
        ["Id", <span class="mono">{id}</span>],
      ]}
    />
  );
}

const petsShown = 20;

function describeFilter({ pets, statuses, causes, below, becomesLow }: WebhookFilter): string {
  const parts = [];
  if (pets) {
    const more = pets.length > petsShown ? ` and ${pets.length - petsShown} more` : "";
    parts.push(`of the pets ${pets.slice(0, petsShown).join(", ")}${more}`);
  }
  if (statuses) parts.push(`to ${statuses.map(capitalized).join(" or ")}`);
  if (causes) parts.push(`with the cause ${causes.map(causeName).join(" or ")}`);
  if (below !== null) parts.push(`in which the quantity falls below ${formatCount(below)}`);
  if (becomesLow) parts.push("by which stock becomes low");
  return parts.length === 0 ? "All changes" : `Only changes ${parts.join(", ")}`;
}

interface AttemptProps {
  readonly attempts: readonly WebhookAttempt[];
  readonly isBusy: boolean;
  readonly resend: (attempt: WebhookAttempt) => void;
}

function Attempts({ attempts, isBusy, resend }: AttemptProps) {
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
function showResult({ status, error, durationMs }: WebhookAttempt): void {
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
