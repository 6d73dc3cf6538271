import { useRef } from "preact/hooks";
import { request } from "../client/api.ts";
import { showSuccess } from "../page/toasts.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { useSubmission } from "../parts/submission.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { NameField, TermsFields } from "./key-fields.tsx";
import { type KeyInput, readKeyForm } from "./key-form.ts";
import type { Key } from "./types.ts";

interface Props {
  readonly entry: Key;
  readonly close: () => void;
}

/** Changes a key. Only what the person changed is sent, so that another operator's change stays. */
export function EditKey({ entry: latest, close }: Props) {
  // The key as it was when the form was filled. The page loads it again every few seconds.
  const entry = useRef(latest).current;
  const submission = useSubmission();
  const isOperator = entry.kind === "operator";

  function submit(form: FormData): void {
    const reading = readKeyForm(form, isOperator);
    if ("error" in reading) {
      submission.error.value = reading.error;
      return;
    }
    const body = changesOf(entry, reading.input);
    void submission.run(async () => {
      if (Object.keys(body).length > 0) {
        const { name } = await request<Key>(`/keys/${entry.id}`, { method: "PATCH", body });
        showSuccess(`Saved ${name}`);
      }
      close();
    });
  }

  return (
    <Dialog title="Change the key" close={close}>
      <DialogForm
        submission={submission}
        submit={submit}
        action="Save"
        busyAction="Saving…"
        cancel={close}
      >
        <NameField value={entry.name} />
        {!isOperator && (
          <TermsFields plan={entry.plan ?? ""} limits={entry.limits} scopes={entry.scopes} />
        )}
        <ExpiryField current={entry.expiresAt} />
        <p class="hint">A change takes effect with the next request of the key.</p>
      </DialogForm>
    </Dialog>
  );
}

/** What differs from the key as the person saw it. */
function changesOf(key: Key, input: KeyInput): Partial<KeyInput> {
  const { name, plan, perMinute, perDay, scopes, expiresAt } = input;
  const { limits } = key;
  const hasNewLimits =
    perMinute !== undefined &&
    (perMinute !== limits.perMinute || perDay !== limits.perDay || plan !== key.plan);
  return {
    ...(name === key.name ? {} : { name }),
    ...(plan === undefined || plan === key.plan ? {} : { plan }),
    ...(hasNewLimits ? { perMinute, perDay: perDay! } : {}),
    ...(scopes === undefined || scopes.join() === key.scopes.join() ? {} : { scopes }),
    ...(expiresAt === undefined || expiresAt === key.expiresAt ? {} : { expiresAt }),
  };
}
