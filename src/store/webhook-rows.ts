import type { Delivered } from "../domain/webhooks/store.ts";
import {
  attemptsKept,
  type Webhook,
  type WebhookAttempt,
  type WebhookFilter,
  type WebhookState,
} from "../domain/webhooks/webhook.ts";
import { type Row, toNumber } from "./rows.ts";

/** The columns of a webhook, without its lease and the number of its attempts. */
export const webhookColumns = `id, name, url, filter, secret, previous_secret, previous_expires_at,
  created_at, state, state_reason, version, replays, cursor_epoch, cursor_seq, failures,
  failing_since, next_attempt_at`;

export const attemptColumns = `at, message_id, first_seq, last_seq, changes, duration_ms, status,
  error, answer`;

export function toWebhook(row: Row): Webhook {
  return {
    id: row[0] as string,
    name: row[1] as string,
    url: row[2] as string,
    filter: toFilter(row[3] as string),
    secrets: {
      current: row[4] as string,
      previous: row[5] as string | null,
      previousExpiresAt: toNumber(row[6]),
    },
    createdAt: Number(row[7]),
    state: row[8] as WebhookState,
    stateReason: row[9] as string | null,
    version: Number(row[10]),
    replays: Number(row[11]),
    cursor: { epoch: row[12] as string, seq: Number(row[13]) },
    failures: Number(row[14]),
    failingSince: toNumber(row[15]),
    nextAttemptAt: Number(row[16]),
  };
}

/** The columns of the fields that are given, with their values. */
export function columnsOf(webhook: Partial<Webhook>): [column: string, value: Value][] {
  const { filter, secrets, cursor } = webhook;
  const values: Record<string, Value | undefined> = {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    filter: filter && filterText(filter),
    secret: secrets?.current,
    previous_secret: secrets?.previous,
    previous_expires_at: secrets?.previousExpiresAt,
    created_at: webhook.createdAt,
    state: webhook.state,
    state_reason: webhook.stateReason,
    version: webhook.version,
    replays: webhook.replays,
    cursor_epoch: cursor?.epoch,
    cursor_seq: cursor?.seq,
    failures: webhook.failures,
    failing_since: webhook.failingSince,
    next_attempt_at: webhook.nextAttemptAt,
  };
  return Object.entries(values).filter((entry): entry is [string, Value] => entry[1] !== undefined);
}

type Value = string | number | null;

/** JSON with ids as texts, because a JSON number is not exact beyond 2^53. */
function filterText({ pets, ...rest }: WebhookFilter): string {
  return JSON.stringify({ pets: pets?.map(String) ?? null, ...rest });
}

function toFilter(text: string): WebhookFilter {
  const { pets, ...rest } = JSON.parse(text);
  // Filters of earlier releases do not have the last field.
  return { becomesLow: false, ...rest, pets: pets?.map(BigInt) ?? null };
}

export function toAttempt(row: Row): WebhookAttempt {
  return {
    at: Number(row[0]),
    messageId: row[1] as string,
    firstSeq: Number(row[2]),
    lastSeq: Number(row[3]),
    changes: Number(row[4]),
    durationMs: Number(row[5]),
    status: toNumber(row[6]),
    error: row[7] as string | null,
    answer: row[8] as string,
  };
}

/**
 * The attempts that remain in the log. Texts come from other servers: NUL and half a surrogate pair,
 * which PostgreSQL cannot store, become the replacement character on both engines.
 */
export function attemptsToAdd({ attempts }: Pick<Delivered, "attempts">): WebhookAttempt[] {
  return attempts.slice(-attemptsKept).map((attempt) => ({
    ...attempt,
    error: attempt.error && storable(attempt.error),
    answer: storable(attempt.answer),
  }));
}

function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}
