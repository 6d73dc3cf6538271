import { useRef } from "preact/hooks";
import { ApiError, type RequestOptions, request, ShownError } from "../client/api.ts";
import { isOwnKey } from "../client/session.ts";
import type { Key, KeyChange, NewKey, RotatedKey } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { Confirmation, FormDialog } from "../parts/dialog-form.tsx";
import { IssueDialog, type Issued, OverlapField, readOverlap } from "../parts/issue-dialog.tsx";
import { Name } from "../parts/names.tsx";
import { Time } from "../parts/time.tsx";
import { ExpiryField, NameField, RoleField, readKeyForm, TermsFields } from "./key-form.tsx";

/** Sends a change. If no owner would be left, sending it again is the confirmation. */
function useKeyChange(action: string) {
  const isWarned = useRef(false);
  return (path: string, options: RequestOptions) =>
    request<Key>(isWarned.current ? `${path}?force=true` : path, options).catch((error) => {
      if (!(error instanceof ApiError && error.code === "last_owner")) throw error;
      isWarned.current = true;
      throw new ShownError(
        `No other owner's key is valid for as long. Without one, only the command petstore keys create makes keys. Choose ${action} again if you want that.`,
      );
    });
}

interface Props {
  readonly entry: Key;
  readonly close: () => void;
}

/** Changes a key. Only what the person changed is sent, so that another operator's change stays. */
export function EditKey({ entry: latest, close }: Props) {
  // The key as it was when the form was filled. The page loads it again every few seconds.
  const entry = useRef(latest).current;
  const { name, plan, limits, scopes } = entry;
  const send = useKeyChange("Save");
  async function submit(form: FormData): Promise<void> {
    const body = changesOf(entry, readKeyForm(form, plan === null));
    if (Object.keys(body).length > 0) {
      const saved = await send(`/keys/${entry.id}`, { method: "PATCH", body });
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
      {plan === null && !isOwnKey(entry.id) && <RoleField value={entry.role} />}
      {plan && <TermsFields plan={plan} limits={limits} scopes={scopes} />}
      <ExpiryField current={entry.expiresAt} />
      <p class="hint">A change takes effect with the next request of the key.</p>
    </FormDialog>
  );
}

/** What differs from the key as the person saw it. */
function changesOf(key: Key, input: NewKey): KeyChange {
  const known: Readonly<Record<string, unknown>> = { ...key, ...key.limits };
  const isChanged = ([field, value]: [string, unknown]) => String(value) !== String(known[field]);
  return Object.fromEntries(Object.entries(input).filter(isChanged));
}

/** Replaces the secret of a key. The old one works for a chosen time, so that no request fails. */
export function RotateKey({ entry, close }: Props) {
  const isOwn = isOwnKey(entry.id);
  async function issue(form: FormData): Promise<Issued> {
    const send = { method: "POST", body: readOverlap(form) } as const;
    const { key, oldValidUntil } = await request<RotatedKey>(`/keys/${entry.id}/rotate`, send);
    return {
      ...{ title: "Your new key", what: "key", secret: key },
      children:
        Date.parse(oldValidUntil) > Date.now() ? (
          <p>
            The old key works until <Time at={oldValidUntil} />. Replace it before then.
          </p>
        ) : (
          <p>The old key no longer works.</p>
        ),
    };
  }
  return (
    <IssueDialog
      title="Rotate the key"
      action="Rotate"
      busyAction="Rotating…"
      close={close}
      issue={issue}
    >
      <p>
        <Name>{entry.name}</Name> gets a new secret. Its name, plan, scopes and limits stay the
        same.
      </p>
      <OverlapField label="How long the old key still works" canEndAtOnce={!isOwn} />
      {isOwn && (
        <p class="notice">
          This is the key you signed in with. Your session ends with the old key.
        </p>
      )}
    </IssueDialog>
  );
}

export function RevokeKey({ entry, close }: Props) {
  const isOwn = isOwnKey(entry.id);
  const send = useKeyChange("Revoke");
  const revoke = async () => {
    await send(`/keys/${entry.id}/revoke`, { method: "POST" });
    showSuccess(`Revoked ${entry.name}`);
  };
  return (
    <Confirmation
      title="Revoke the key"
      action="Revoke"
      typed={isOwn ? entry.name : undefined}
      run={revoke}
      close={close}
    >
      <p>
        <Name>{entry.name}</Name> stops working at once and for good. Its requests are refused. Its
        history stays.
      </p>
      {isOwn && (
        <p class="notice danger">
          This is the key you signed in with. You will be signed out, and need another operator key
          to sign in again.
        </p>
      )}
    </Confirmation>
  );
}
