import { request } from "../client/api.ts";
import { showSuccess } from "../page/toasts.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { useSubmission } from "../parts/submission.ts";
import { TextField } from "../parts/text-field.tsx";
import { changeNumber } from "../texts/numbers.ts";
import type { Webhook } from "./types.ts";

interface Props {
  readonly webhook: Webhook;
  readonly close: () => void;
}

/** Sends changes again, from one of them on. */
export function ReplayWebhook({ webhook, close }: Props) {
  const submission = useSubmission();
  const next = webhook.cursor + webhook.behind + 1;

  function submit(form: FormData): void {
    const text = String(form.get("from") ?? "").replace(/[\s,#]/g, "");
    const from = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (from < 1) {
      submission.error.value = `Enter the number of a change, from #1 to ${changeNumber(next)}.`;
      return;
    }
    void submission.run(async () => {
      await request(`/webhooks/${webhook.id}/replay`, { method: "POST", body: { from } });
      showSuccess(`${webhook.name} delivers from change ${changeNumber(from)}`);
      close();
    });
  }

  return (
    <Dialog title="Replay changes" close={close}>
      <DialogForm submission={submission} submit={submit} action="Replay" cancel={close}>
        <p>
          <bdi>
            <strong>{webhook.name}</strong>
          </bdi>{" "}
          delivers all changes again, from the one you choose. The messages have new ids.
        </p>
        <TextField
          name="from"
          label="From change"
          value={String(Math.max(1, webhook.cursor))}
          hint={`The numbers of changes are under Activity. The next change will be ${changeNumber(next)}.`}
          inputMode="numeric"
        />
        {webhook.state !== "active" && (
          <p class="notice">The webhook is {webhook.state}. It starts when you resume it.</p>
        )}
      </DialogForm>
    </Dialog>
  );
}
