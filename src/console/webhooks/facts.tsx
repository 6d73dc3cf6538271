import type { Webhook, WebhookFilter } from "../client/types.ts";
import { Facts } from "../parts/card.tsx";
import { causeName } from "../parts/origins.ts";
import { Time } from "../parts/time.tsx";
import { capitalized, changeNumber, formatCount } from "../texts/formats.ts";
import { HealthText } from "./health.tsx";

export function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, createdAt, cursor, behind, filter, oldSecretUntil } = webhook;
  const delivered = (
    <>
      {cursor === 0 ? "Nothing" : `Up to change ${changeNumber(cursor)}`}
      {behind > 0 && <span class="muted"> ({formatCount(behind)} behind)</span>}
    </>
  );
  const oldSecret = oldSecretUntil && (
    <>
      Also signs until <Time at={oldSecretUntil} />
    </>
  );
  return (
    <Facts
      facts={[
        ["URL", <bdi class="mono">{url}</bdi>],
        ["Deliveries", <HealthText webhook={webhook} />],
        ["Delivered", delivered],
        ["Changes", <bdi>{describeFilter(filter)}</bdi>],
        oldSecret ? ["Old secret", oldSecret] : undefined,
        ["Created", <Time at={createdAt} />],
        ["Id", <span class="mono">{id}</span>],
      ]}
    />
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
