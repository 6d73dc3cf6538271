import { request } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { changeNumber } from "../parts/numbers.ts";
import { useSubmission } from "../parts/submission.ts";
import { showSuccess } from "../toasts.ts";
import type { Webhook } from "./types.ts";

interface Props {
  readonly webhook: Webhook;
  readonly close: () => void;
}

/** Sends changes again, from one of them on. */
export function ReplayWebhook({ webhook, close }: Props) {
  const { isBusy, error, run } = useSubmission();
  const next = webhook.cursor + webhook.behind + 1;

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = String(form.get("from") ?? "").replace(/[\s,#]/g, "");
    const from = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (from < 1) {
      error.value = `Enter the number of a change, from #1 to ${changeNumber(next)}.`;
      return;
    }
    void run(async () => {
      await request(`/webhooks/${webhook.id}/replay`, { method: "POST", body: { from } });
      showSuccess(`${webhook.name} delivers from change ${changeNumber(from)}`);
      close();
    });
  }

  return (
    <Dialog title="Replay changes" close={close}>
      <form class="stack" novalidate onSubmit={submit}>
        <p>
          <bdi>
            <strong>{webhook.name}</strong>
          </bdi>{" "}
          delivers all changes again, from the one you choose. The messages have new ids.
        </p>
        <div class="field">
          <label for="replay-from">From change</label>
          <input
            id="replay-from"
            name="from"
            class="input"
            inputMode="numeric"
            autocomplete="off"
            aria-describedby="replay-hint"
            defaultValue={String(Math.max(1, webhook.cursor))}
          />
          <p class="hint" id="replay-hint">
            The numbers of changes are under Activity. The next change will be {changeNumber(next)}.
          </p>
        </div>
        {webhook.state !== "active" && (
          <p class="notice">The webhook is {webhook.state}. It starts when you resume it.</p>
        )}
        <p class="field-error" role="alert">
          {error.value}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isBusy.value}>
            Replay
          </button>
        </div>
      </form>
    </Dialog>
  );
}
