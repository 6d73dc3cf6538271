import { formatCursor } from "../domain/ledger/cursors.ts";
import type { WebhookStatus } from "../domain/webhooks/lifecycle.ts";
import {
  resultOf,
  type Webhook,
  type WebhookAttempt,
  type WebhookFilter,
} from "../domain/webhooks/webhook.ts";
import type { Column } from "./table.ts";

export const listColumns: readonly Column<WebhookStatus>[] = [
  { title: "ID", align: "left", cell: ({ webhook }) => webhook.id },
  { title: "STATE", align: "left", cell: ({ webhook }) => stateText(webhook) },
  { title: "BEHIND", align: "right", cell: ({ behind }) => String(behind) },
  { title: "NAME", align: "left", cell: ({ webhook }) => webhook.name },
  { title: "URL", align: "left", cell: ({ webhook }) => webhook.url },
];

export const attemptColumns: readonly Column<WebhookAttempt>[] = [
  { title: "TIME", align: "left", cell: ({ at }) => new Date(at).toISOString() },
  { title: "CHANGES", align: "left", cell: changesText },
  { title: "MS", align: "right", cell: ({ durationMs }) => String(durationMs) },
  { title: "RESULT", align: "left", cell: resultOf },
  { title: "ANSWER", align: "left", cell: ({ answer }) => answer },
];

/** The fields that are printed, in their order. Never a secret. */
export function describe({
  webhook,
  behind,
}: { readonly webhook: Webhook } & Partial<WebhookStatus>) {
  const { filter, secrets } = webhook;
  return {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    state: webhook.state,
    reason: webhook.stateReason,
    filter: { ...filter, pets: filter.pets?.map(exact) ?? null },
    createdAt: isoOrNull(webhook.createdAt),
    cursor: formatCursor(webhook.cursor),
    seq: webhook.cursor.seq,
    behind,
    failures: webhook.failures,
    failingSince: isoOrNull(webhook.failingSince),
    nextAttemptAt: isoOrNull(webhook.nextAttemptAt || null),
    replays: webhook.replays,
    oldSecretUntil: isoOrNull(secrets.previousExpiresAt),
  };
}

/** Written by JSON.stringify with all digits. */
function exact(id: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(id));
}

export function describeAttempt({ at, ...attempt }: WebhookAttempt) {
  return { at: isoOrNull(at), ...attempt };
}

function changesText({ firstSeq, lastSeq }: WebhookAttempt): string {
  return firstSeq === lastSeq ? String(firstSeq) : `${firstSeq}-${lastSeq}`;
}

export function stateText({ state, failures }: Webhook): string {
  return state === "active" && failures > 0 ? "failing" : state;
}

export function filterText({ pets, statuses, causes, below }: WebhookFilter): string {
  const parts = [
    pets && `pets ${pets.join(",")}`,
    statuses && `statuses ${statuses.join(",")}`,
    causes && `causes ${causes.join(",")}`,
    below !== null && `below ${below}`,
  ].filter(Boolean);
  return parts.length === 0 ? "all changes" : parts.join("; ");
}

export function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
