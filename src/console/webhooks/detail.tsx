import { useSignal } from "@preact/signals";
import { AuditOfTarget } from "../audit/of-target.tsx";
import { request } from "../client/api.ts";
import type { WebhookWithAttempts } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { FieldError } from "../parts/fields.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { useSubmission } from "../parts/submission.ts";
import { ViewHead } from "../parts/view-head.tsx";
import { Attempts } from "./attempts.tsx";
import { WebhookFacts } from "./facts.tsx";
import { HealthBadge } from "./health.tsx";
import { RemoveWebhook } from "./remove-webhook.tsx";
import { ReplayWebhook } from "./replay-webhook.tsx";
import { RotateSecret } from "./rotate-secret.tsx";

/** One webhook with its last attempts. */
export function WebhookDetail({ id }: { readonly id: string }) {
  const source = usePolled<WebhookWithAttempts>(`/webhooks/${encodeURIComponent(id)}`);
  return (
    <>
      <a class="back-link" href={hrefOf("/webhooks")}>
        ← All webhooks
      </a>
      <WhenLoaded source={source}>
        {(webhook) => <LoadedWebhook webhook={webhook} reload={() => void source.reload()} />}
      </WhenLoaded>
    </>
  );
}

interface Props {
  readonly webhook: WebhookWithAttempts;
  readonly reload: () => void;
}

type OpenDialog = "replay" | "rotate" | "remove" | undefined;

function LoadedWebhook({ webhook, reload }: Props) {
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
  return (
    <>
      <ViewHead title={webhook.name} badges={<HealthBadge {...webhook} />}>
        <div class="row">
          <PauseButton webhook={webhook} done={done} />
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
          <Attempts attempts={webhook.attempts} />
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

function PauseButton({ webhook, done }: { readonly webhook: Props["webhook"]; done: () => void }) {
  const { isBusy, error, run } = useSubmission();
  const isActive = webhook.state === "active";
  const change = () =>
    run(async () => {
      await request(`/webhooks/${webhook.id}/${isActive ? "pause" : "resume"}`, { method: "POST" });
      showSuccess(`${isActive ? "Paused" : "Resumed"} ${webhook.name}`);
      done();
    });
  return (
    <>
      {error.value && <FieldError>{error.value}</FieldError>}
      <Button kind={isActive ? undefined : "primary"} isDisabled={isBusy.value} onClick={change}>
        {isActive ? "Pause" : "Resume"}
      </Button>
    </>
  );
}
