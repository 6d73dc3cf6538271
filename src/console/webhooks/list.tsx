import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import type { Webhook } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Icon } from "../parts/icon.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { formatCount } from "../texts/numbers.ts";
import { CreateWebhook } from "./create-webhook.tsx";
import { HealthBadge, HealthText } from "./health.tsx";

export function WebhookList() {
  const source = usePolled((signal) => request<readonly Webhook[]>("/webhooks", { signal }));
  const isCreating = useSignal(false);
  const create = () => {
    isCreating.value = true;
  };
  return (
    <>
      <div class="spread view-head">
        <h1 class="view-title">Webhooks</h1>
        <button type="button" class="button primary" onClick={create}>
          <Icon name="plus" />
          New webhook
        </button>
      </div>
      <WhenLoaded source={source}>
        {(webhooks) =>
          webhooks.length > 0 ? (
            <WebhookTable webhooks={webhooks} />
          ) : (
            <NoWebhooks create={create} />
          )
        }
      </WhenLoaded>
      {isCreating.value && (
        <CreateWebhook
          close={() => {
            isCreating.value = false;
          }}
          created={() => void source.reload()}
        />
      )}
    </>
  );
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  return (
    <div class="table-wrap">
      <table class="table card-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Deliveries</th>
            <th scope="col" class="number">
              Behind
            </th>
          </tr>
        </thead>
        <tbody>
          {webhooks.map((webhook) => (
            <tr key={webhook.id} data-webhook={webhook.id}>
              <td class="webhook-name">
                <a href={hrefOf(`/webhooks/${webhook.id}`)}>
                  <bdi>{webhook.name}</bdi>
                </a>
                <bdi class="muted small webhook-url">{webhook.url}</bdi>
              </td>
              <td data-label="State">
                <span>
                  <HealthBadge {...webhook} />
                </span>
              </td>
              <td data-label="Deliveries">
                <span>
                  <HealthText webhook={webhook} />
                </span>
              </td>
              <td data-label="Behind" class="number">
                {formatCount(webhook.behind)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NoWebhooks({ create }: { readonly create: () => void }) {
  return (
    <div class="empty">
      <h2>There are no webhooks yet</h2>
      <p>A webhook sends every change to stock to your own server, in order and signed.</p>
      <button type="button" class="button" onClick={create}>
        Create a webhook
      </button>
    </div>
  );
}
