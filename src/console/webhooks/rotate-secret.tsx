import { request } from "../client/api.ts";
import type { Webhook, WebhookWithSecret } from "../client/types.ts";
import { IssueDialog } from "../parts/dialog-form.tsx";
import { Name } from "../parts/names.tsx";
import { OverlapField, readOverlap } from "../parts/overlap-field.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Time } from "../parts/time.tsx";

interface Props {
  readonly webhook: Webhook;
  readonly close: () => void;
}

/** Gives a webhook a new secret. Messages carry both signatures while the old one is valid. */
export function RotateSecret({ webhook, close }: Props) {
  const path = `/webhooks/${webhook.id}/rotate`;
  return (
    <IssueDialog
      title="Rotate the secret"
      action="Rotate"
      busyAction="Rotating…"
      close={close}
      issue={(form) =>
        request<WebhookWithSecret>(path, { method: "POST", body: readOverlap(form) })
      }
      shown={({ secret, oldSecretUntil }) => (
        <ShownOnce title="The new secret" what="secret" secret={secret} close={close}>
          <p>
            {oldSecretUntil ? (
              <>
                Messages are signed with both secrets until <Time at={oldSecretUntil} />.
              </>
            ) : (
              "Messages are signed only with the new secret from now on."
            )}
          </p>
        </ShownOnce>
      )}
    >
      <p>
        <Name>{webhook.name}</Name> gets a new secret for its signatures.
      </p>
      <OverlapField label="How long the old secret also signs" canEndAtOnce />
    </IssueDialog>
  );
}
