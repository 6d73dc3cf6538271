import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { OverlapField, readOverlapSeconds } from "../parts/overlap-field.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { useSubmission } from "../parts/submission.ts";
import { Time } from "../parts/time.tsx";
import type { Webhook, WebhookWithSecret } from "./types.ts";

interface Props {
  readonly webhook: Webhook;
  readonly close: () => void;
}

/** Gives a webhook a new secret. Messages carry both signatures while the old one is valid. */
export function RotateSecret({ webhook, close }: Props) {
  const rotated = useSignal<WebhookWithSecret | undefined>(undefined);
  const submission = useSubmission();
  if (rotated.value) {
    const { secret, oldSecretUntil } = rotated.value;
    return (
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
    );
  }

  function submit(form: FormData): void {
    const body = { overlapSeconds: readOverlapSeconds(form) };
    void submission.run(async () => {
      const path = `/webhooks/${webhook.id}/rotate`;
      rotated.value = await request<WebhookWithSecret>(path, { method: "POST", body });
    });
  }

  return (
    <Dialog title="Rotate the secret" close={close}>
      <DialogForm
        submission={submission}
        submit={submit}
        action="Rotate"
        busyAction="Rotating…"
        cancel={close}
      >
        <p>
          <bdi>
            <strong>{webhook.name}</strong>
          </bdi>{" "}
          gets a new secret for its signatures.
        </p>
        <OverlapField label="How long the old secret also signs" canEndAtOnce />
      </DialogForm>
    </Dialog>
  );
}
