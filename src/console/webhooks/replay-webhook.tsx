import { request, ShownError } from "../client/api.ts";
import type { Webhook } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { FormDialog } from "../parts/dialog-form.tsx";
import { TextField } from "../parts/fields.tsx";
import { Name } from "../parts/names.tsx";
import { changeNumber } from "../texts/formats.ts";

interface Props {
  readonly webhook: Webhook;
  readonly close: () => void;
}

/** Sends changes again, from one of them on. */
export function ReplayWebhook({ webhook, close }: Props) {
  const next = changeNumber(webhook.cursor + webhook.behind + 1);
  async function submit(form: FormData): Promise<void> {
    const text = String(form.get("from") ?? "").replace(/[\s,#]/g, "");
    const from = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (from < 1) throw new ShownError(`Enter the number of a change, from #1 to ${next}.`);
    await request(`/webhooks/${webhook.id}/replay`, { method: "POST", body: { from } });
    showSuccess(`${webhook.name} delivers from change ${changeNumber(from)}`);
    close();
  }
  return (
    <FormDialog title="Replay changes" action="Replay" close={close} submit={submit}>
      <p>
        <Name>{webhook.name}</Name> delivers all changes again, from the one you choose. The
        messages have new ids.
      </p>
      <TextField
        name="from"
        label="From change"
        value={String(Math.max(1, webhook.cursor))}
        hint={`The numbers of changes are under Activity. The next change will be ${next}.`}
        inputMode="numeric"
      />
      {webhook.state !== "active" && (
        <p class="notice">The webhook is {webhook.state}. It starts when you resume it.</p>
      )}
    </FormDialog>
  );
}
