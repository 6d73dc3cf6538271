import { formatCursor } from "../domain/ledger/cursors.ts";
import { conditionOf } from "../domain/operations/attention.ts";
import { inOrder } from "../domain/values/json.ts";
import type { WebhookStatus } from "../domain/webhooks/lifecycle.ts";
import { resultOf, type WebhookAttempt, type WebhookFilter } from "../domain/webhooks/webhook.ts";
import { webhookJson } from "../domain/webhooks/webhook-json.ts";
import type { Column } from "./table.ts";

export const listColumns: readonly Column<WebhookStatus>[] = [
  { title: "ID", align: "left", cell: ({ webhook }) => webhook.id },
  { title: "STATE", align: "left", cell: ({ webhook }) => conditionOf(webhook) },
  { title: "BEHIND", align: "right", cell: ({ behind }) => String(behind) },
  { title: "NAME", align: "left", cell: ({ webhook }) => webhook.name },
  { title: "URL", align: "left", cell: ({ webhook }) => webhook.url },
];

export const attemptColumns: readonly Column<WebhookAttempt>[] = [
  { title: "TIME", align: "left", cell: ({ at }) => new Date(at).toISOString() },
  { title: "MESSAGE", align: "left", cell: ({ messageId }) => messageId },
  { title: "CHANGES", align: "left", cell: changesText },
  { title: "MS", align: "right", cell: ({ durationMs }) => String(durationMs) },
  { title: "RESULT", align: "left", cell: resultOf },
  { title: "ANSWER", align: "left", cell: ({ answer }) => answer },
];

const names = [
  ...(["id", "name", "url", "state", "reason", "filter", "createdAt", "cursor", "seq"] as const),
  ...(["behind", "failures", "failingSince"] as const),
  ...(["nextAttemptAt", "replays", "oldSecretUntil"] as const),
];

/** The fields that are printed, in their order. */
export function describe(status: Parameters<typeof webhookJson>[0]) {
  const { cursor, stateReason: reason } = status.webhook;
  const shown = { ...webhookJson(status), reason, cursor: formatCursor(cursor), seq: cursor.seq };
  return inOrder(shown, names);
}

function changesText({ firstSeq, lastSeq, changes }: WebhookAttempt): string {
  if (changes === 0) return "test";
  return firstSeq === lastSeq ? String(firstSeq) : `${firstSeq}-${lastSeq}`;
}

export function filterText({ pets, statuses, causes, below, becomesLow }: WebhookFilter): string {
  const parts = [
    pets && `pets ${pets.join(",")}`,
    statuses && `statuses ${statuses.join(",")}`,
    causes && `causes ${causes.join(",")}`,
    below !== null && `below ${below}`,
    becomesLow && "becomes low",
  ].filter(Boolean);
  return parts.length === 0 ? "all changes" : parts.join("; ");
}
