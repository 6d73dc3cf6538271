import { request } from "../client/api.ts";
import type { Webhook, WebhookWithSecret } from "../client/types.ts";
import { IssueDialog, type Issued } from "../parts/issue-dialog.tsx";
import { Name } from "../parts/names.tsx";
import { OverlapField, readOverlap } from "../parts/overlap-field.tsx";
import { Time } from "../parts/time.tsx";

interface Props {
  readonly webhook: Webhook;
  readonly close: () => void;
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
