import { useSignal } from "@preact/signals";
import type { Webhook, WebhookWithAttempts } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Empty, usePolled, WhenLoaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Detail, ViewHead, type ViewProps } from "../parts/view.tsx";
import { formatCount } from "../texts/formats.ts";
import { CreateWebhook } from "./create-webhook.tsx";
import { WebhookDetail } from "./detail.tsx";
import { HealthBadge, HealthText } from "./health.tsx";

/** /webhooks lists all webhooks, /webhooks/ID shows one. */
export default function WebhooksView({ rest }: ViewProps) {
  if (rest === "") return <WebhookList />;
  return (
    <Detail<WebhookWithAttempts> key={rest} of="webhooks" id={rest}>
      {(webhook, reload) => <WebhookDetail webhook={webhook} reload={reload} />}
    </Detail>
  );
}

function WebhookList() {
  const source = usePolled<readonly Webhook[]>("/webhooks");
  const isCreating = useSignal(false);
  const create = () => {
    isCreating.value = true;
  };
  return (
    <>
      <ViewHead title="Webhooks">
        <Button kind="primary" icon="plus" onClick={create}>
          New webhook
        </Button>
      </ViewHead>
      <WhenLoaded source={source}>
        {(webhooks) =>
          webhooks.length > 0 ? (
            <Table rows={webhooks} keyOf={({ id }) => id} columns={columns} />
          ) : (
            <Empty title="There are no webhooks yet">
              <p>A webhook sends every change to stock to your own server, in order and signed.</p>
              <Button onClick={create}>Create a webhook</Button>
            </Empty>
          )
        }
      </WhenLoaded>
      {isCreating.value && (
        <CreateWebhook
          close={() => (isCreating.value = false)}
          created={() => void source.reload()}
        />
      )}
    </>
  );
}

const columns: readonly Column<Webhook>[] = [
  {
    title: "Name",
    class: "row-name",
    isMain: true,
    cell: ({ id, name, url }) => (
      <>
        <a href={hrefOf(`/webhooks/${id}`)}>
          <bdi>{name}</bdi>
        </a>
        <bdi class="muted small webhook-url">{url}</bdi>
      </>
    ),
  },
  {
    title: "State",
    cell: (webhook) => (
      <span>
        <HealthBadge {...webhook} />
      </span>
    ),
  },
  {
    title: "Deliveries",
    cell: (webhook) => (
      <span>
        <HealthText webhook={webhook} />
      </span>
    ),
  },
  { title: "Behind", isNumber: true, cell: ({ behind }) => formatCount(behind) },
];
