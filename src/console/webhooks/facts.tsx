import type { Webhook, WebhookFilter } from "../client/types.ts";
import { causeName } from "../parts/causes.ts";
import { Time } from "../parts/time.tsx";
import { capitalized } from "../texts/capitalized.ts";
import { changeNumber, formatCount } from "../texts/numbers.ts";
import { HealthText } from "./health.tsx";

export function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, createdAt, cursor, behind, filter, oldSecretUntil } = webhook;
  return (
    <dl class="facts">
      <dt>URL</dt>
      <dd class="mono">
        <bdi>{url}</bdi>
      </dd>
      <dt>Deliveries</dt>
      <dd>
        <HealthText webhook={webhook} />
      </dd>
      <dt>Delivered</dt>
      <dd>
        {cursor === 0 ? "Nothing" : `Up to change ${changeNumber(cursor)}`}
        {behind > 0 && <span class="muted"> ({formatCount(behind)} behind)</span>}
      </dd>
      <dt>Changes</dt>
      <dd>
        <bdi>{describeFilter(filter)}</bdi>
      </dd>
      {oldSecretUntil && (
        <>
          <dt>Old secret</dt>
          <dd>
            Also signs until <Time at={oldSecretUntil} />
          </dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
      <dt>Id</dt>
      <dd class="mono">{id}</dd>
    </dl>
  );
}

const petsShown = 20;

function describeFilter({ pets, statuses, causes, below }: WebhookFilter): string {
  const parts = [];
  if (pets) {
    const more = pets.length > petsShown ? ` and ${pets.length - petsShown} more` : "";
    parts.push(`of the pets ${pets.slice(0, petsShown).join(", ")}${more}`);
  }
  if (statuses) parts.push(`to ${statuses.map(capitalized).join(" or ")}`);
  if (causes) parts.push(`with the cause ${causes.map(causeName).join(" or ")}`);
  if (below !== null) parts.push(`in which the quantity falls below ${formatCount(below)}`);
  return parts.length === 0 ? "All changes" : `Only changes ${parts.join(", ")}`;
}
