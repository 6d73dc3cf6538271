import { useSignal } from "@preact/signals";
import { AuditOfTarget } from "../audit/of-target.tsx";
import { request } from "../client/api.ts";
import type { WebhookWithAttempts } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { showSuccess } from "../page/toasts.ts";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { useSubmission } from "../parts/submission.ts";
import { Attempts } from "./attempts.tsx";
import { WebhookFacts } from "./facts.tsx";
import { HealthBadge } from "./health.tsx";
import { RemoveWebhook } from "./remove-webhook.tsx";
import { ReplayWebhook } from "./replay-webhook.tsx";
import { RotateSecret } from "./rotate-secret.tsx";

/** One webhook with its last attempts. */
export function WebhookDetail({ id }: { readonly id: string }) {
  const source = usePolled(
    (signal) => request<WebhookWithAttempts>(`/webhooks/${encodeURIComponent(id)}`, { signal }),
    [id],
  );
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
      <div class="spread view-head">
        <div class="row">
          <h1 class="view-title">
            <bdi>{webhook.name}</bdi>
          </h1>
          <HealthBadge {...webhook} />
        </div>
        <div class="row">
          <PauseButton webhook={webhook} done={done} />
          <button type="button" class="button" onClick={() => (open.value = "replay")}>
            Replay…
          </button>
          <button type="button" class="button" onClick={() => (open.value = "rotate")}>
            Rotate the secret…
          </button>
          <button type="button" class="button" onClick={() => (open.value = "remove")}>
            Remove…
          </button>
        </div>
      </div>
      <div class="stack">
        <section class="card">
          <h2 class="card-title">Details</h2>
          <WebhookFacts webhook={webhook} />
        </section>
        <section class="card">
          <h2 class="card-title">Last attempts</h2>
          <Attempts attempts={webhook.attempts} />
        </section>
        <section class="card">
          <h2 class="card-title">Changes to this webhook</h2>
          <AuditOfTarget key={actions.value} target={webhook.id} />
        </section>
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
      {error.value && (
        <p class="field-error" role="alert">
          {error.value}
        </p>
      )}
      <button
        type="button"
        class={`button ${isActive ? "" : "primary"}`}
        disabled={isBusy.value}
        onClick={() => void change()}
      >
        {isActive ? "Pause" : "Resume"}
      </button>
    </>
  );
}
