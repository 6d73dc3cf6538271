import { exactInteger } from "../values/json.ts";
import { isoOrNull } from "../values/times.ts";
import type { WebhookStatus } from "./lifecycle.ts";
import type { Webhook, WebhookAttempt } from "./webhook.ts";

/**
 * Everything that operators can see of a webhook, as JSON, without its secrets. The command line and the
 * operator API pick fields from it.
 */
export function webhookJson({
  webhook,
  behind,
}: { readonly webhook: Webhook } & Partial<WebhookStatus>) {
  const { id, name, url, state, stateReason, filter, failures, replays, secrets } = webhook;
  return {
    ...{ id, name, url, state, stateReason, failures, replays, behind },
    filter: { ...filter, pets: filter.pets?.map(exactInteger) ?? null },
    createdAt: isoOrNull(webhook.createdAt),
    failingSince: isoOrNull(webhook.failingSince),
    nextAttemptAt: isoOrNull(webhook.nextAttemptAt || null),
    oldSecretUntil: isoOrNull(secrets.previousExpiresAt),
  };
}

export function attemptJson({ at, ...attempt }: WebhookAttempt) {
  return { at: isoOrNull(at), ...attempt };
}
