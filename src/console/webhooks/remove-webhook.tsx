import { request } from "../client/api.ts";
import type { Webhook } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { navigate } from "../page/router.ts";
import { Confirmation } from "../parts/confirmation.tsx";
import { Name } from "../parts/names.tsx";

interface Props {
  readonly webhook: Webhook;
  readonly close: () => void;
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
