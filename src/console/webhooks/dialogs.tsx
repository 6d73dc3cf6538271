import { request, ShownError } from "../client/api.ts";
import type { Webhook, WebhookWithSecret } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { navigate } from "../page/router.ts";
import { Confirmation, FormDialog } from "../parts/dialog-form.tsx";
import { TextField } from "../parts/fields.tsx";
import { IssueDialog, type Issued, OverlapField, readOverlap } from "../parts/issue-dialog.tsx";
import { Name } from "../parts/names.tsx";
import { Time } from "../parts/time.tsx";
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

/** Gives a webhook a new secret. Messages carry both signatures while the old one is valid. */
export function RotateSecret({ webhook, close }: Props) {
  async function issue(form: FormData): Promise<Issued> {
    const path = `/webhooks/${webhook.id}/rotate`;
    const send = { method: "POST", body: readOverlap(form) } as const;
    const { secret, oldSecretUntil } = await request<WebhookWithSecret>(path, send);
    return {
      ...{ title: "The new secret", what: "secret", secret },
      children: oldSecretUntil ? (
        <p>
          Messages are signed with both secrets until <Time at={oldSecretUntil} />.
        </p>
      ) : (
        <p>Messages are signed only with the new secret from now on.</p>
      ),
    };
  }
  return (
    <IssueDialog
      title="Rotate the secret"
      action="Rotate"
      busyAction="Rotating…"
      close={close}
      issue={issue}
    >
      <p>
        <Name>{webhook.name}</Name> gets a new secret for its signatures.
      </p>
      <OverlapField label="How long the old secret also signs" canEndAtOnce />
    </IssueDialog>
  );
}

export function RemoveWebhook({ webhook, close }: Props) {
  const remove = async () => {
    await request(`/webhooks/${webhook.id}`, { method: "DELETE" });
    showSuccess(`Removed ${webhook.name}`);
    navigate("/webhooks", { replace: true });
  };
  return (
    <Confirmation title="Remove the webhook" action="Remove" run={remove} close={close}>
      <p>
        <Name>{webhook.name}</Name> receives nothing more. Its secret and its list of attempts are
        deleted. To stop it for a while, pause it instead.
      </p>
    </Confirmation>
  );
}
