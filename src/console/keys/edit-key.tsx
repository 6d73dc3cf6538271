import { useRef } from "preact/hooks";
import { request } from "../client/api.ts";
import type { Key, KeyChange, NewKey } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { FormDialog } from "../parts/dialog-form.tsx";
import { ExpiryField } from "./expiry-field.tsx";
import { NameField, readKeyForm, TermsFields } from "./key-form.tsx";

interface Props {
  readonly entry: Key;
  readonly close: () => void;
}

/** Changes a key. Only what the person changed is sent, so that another operator's change stays. */
export function EditKey({ entry: latest, close }: Props) {
  // The key as it was when the form was filled. The page loads it again every few seconds.
  const entry = useRef(latest).current;
  const { name, plan, limits, scopes } = entry;
  async function submit(form: FormData): Promise<void> {
    const body = changesOf(entry, readKeyForm(form, plan === null));
    if (Object.keys(body).length > 0) {
      const saved = await request<Key>(`/keys/${entry.id}`, { method: "PATCH", body });
      showSuccess(`Saved ${saved.name}`);
    }
    close();
  }
  return (
    <FormDialog
      title="Change the key"
      action="Save"
      busyAction="Saving…"
      close={close}
      submit={submit}
    >
      <NameField value={name} />
      {plan && <TermsFields plan={plan} limits={limits} scopes={scopes} />}
      <ExpiryField current={entry.expiresAt} />
      <p class="hint">A change takes effect with the next request of the key.</p>
    </FormDialog>
  );
}

/** What differs from the key as the person saw it. */
function changesOf(key: Key, input: NewKey): KeyChange {
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
