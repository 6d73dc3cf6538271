import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { OverlapField, readOverlapSeconds } from "../parts/overlap-field.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { useSubmission } from "../parts/submission.ts";
import { Time } from "../parts/time.tsx";
import { isOwnKey } from "./own-key.ts";
import type { IssuedKey, Key } from "./types.ts";

interface RotatedKey extends IssuedKey {
  readonly oldValidUntil: string | null;
}

/** Replaces the secret of a key. The old one works for a chosen time, so that no request fails. */
export function RotateKey({ entry, close }: { readonly entry: Key; readonly close: () => void }) {
  const rotated = useSignal<RotatedKey | undefined>(undefined);
  const submission = useSubmission();
  if (rotated.value) {
    const { key, oldValidUntil } = rotated.value;
    return (
      <ShownOnce title="Your new key" what="key" secret={key} close={close}>
        {oldValidUntil && Date.parse(oldValidUntil) > Date.now() ? (
          <p>
            The old key works until <Time at={oldValidUntil} />. Replace it before then.
          </p>
        ) : (
          <p>The old key no longer works.</p>
        )}
      </ShownOnce>
    );
  }

  function submit(form: FormData): void {
    const body = { overlapSeconds: readOverlapSeconds(form) };
    void submission.run(async () => {
      rotated.value = await request<RotatedKey>(`/keys/${entry.id}/rotate`, {
        method: "POST",
        body,
      });
    });
  }

  const isOwn = isOwnKey(entry.id);
  return (
    <Dialog title="Rotate the key" close={close}>
      <DialogForm
        submission={submission}
        submit={submit}
        action="Rotate"
        busyAction="Rotating…"
        cancel={close}
      >
        <p>
          <bdi>
            <strong>{entry.name}</strong>
          </bdi>{" "}
          gets a new secret. Its name, plan, scopes and limits stay the same.
        </p>
        <OverlapField label="How long the old key still works" canEndAtOnce={!isOwn} />
        {isOwn && (
          <p class="notice">
            This is the key you signed in with. Your session ends with the old key.
          </p>
        )}
      </DialogForm>
    </Dialog>
  );
}
