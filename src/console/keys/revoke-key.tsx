import { request } from "../client/api.ts";
import { isOwnKey } from "../client/session.ts";
import type { Key } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { Confirmation } from "../parts/confirmation.tsx";
import { Name } from "../parts/names.tsx";

export function RevokeKey({ entry, close }: { readonly entry: Key; readonly close: () => void }) {
  const isOwn = isOwnKey(entry.id);
  const revoke = async () => {
    await request(`/keys/${entry.id}/revoke`, { method: "POST" });
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
