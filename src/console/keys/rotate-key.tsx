import { request } from "../client/api.ts";
import { isOwnKey } from "../client/session.ts";
import type { Key, RotatedKey } from "../client/types.ts";
import { IssueDialog, type Issued } from "../parts/issue-dialog.tsx";
import { Name } from "../parts/names.tsx";
import { OverlapField, readOverlap } from "../parts/overlap-field.tsx";
import { Time } from "../parts/time.tsx";

/** Replaces the secret of a key. The old one works for a chosen time, so that no request fails. */
export function RotateKey({ entry, close }: { readonly entry: Key; readonly close: () => void }) {
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
