import { type AuditEntry, auditEntry, type By } from "../audit/audit.ts";
import { type Position, positionOf } from "../ledger/epochs.ts";
import type { LedgerParts } from "../ledger/store.ts";
import { InvalidField, invalidRequest, ServiceError, unavailable } from "../running/errors.ts";
import { randomId } from "../values/base62.ts";
import { dayMs } from "../values/times.ts";
import { generateSecret } from "./secrets.ts";
import type { WebhookSender } from "./sender.ts";
import type { WebhookChange, WebhookStore } from "./store.ts";
import { checkFrom, checkTerms, type WebhookTerms, withoutSecrets } from "./terms.ts";
import { attemptsKept, type Webhook, type WebhookAttempt } from "./webhook.ts";

/** What an operator can do with webhooks. Every function checks its rules before it writes. */

type Webhooks = { readonly webhooks: WebhookStore };
type WebhooksAndLedger = Webhooks & Pick<LedgerParts, "inventory">;

export interface CreatedWebhook {
  readonly webhook: Webhook;
  /** Signs the messages. Operators see it only now. */
  readonly secret: string;
  /** False if the host of the URL does not resolve at the moment. */
  readonly isResolved: boolean;
}

export interface WebhookStatus {
  readonly webhook: Webhook;
  /** How many rows the ledger has after the cursor, whether they match the filter or not. */
  readonly behind: number;
  /** The last attempts, the newest first. */
  readonly attempts: readonly WebhookAttempt[];
}

/** How long the earlier secret signs after a rotation, unless the operator chooses a time. */
export const defaultOverlapMs = dayMs;

/** The service reads all of them every second or every few seconds. */
export const webhooksMax = 100;

export async function createWebhook(
  store: WebhooksAndLedger,
  sender: Pick<WebhookSender, "checkUrl">,
  terms: WebhookTerms,
  by: By,
): Promise<CreatedWebhook> {
  const isResolved = await sender.checkUrl(terms.url);
  const { name, filter } = checkTerms(terms);
  if ((await store.webhooks.listWebhooks()).length >= webhooksMax) {
    throw invalidRequest(`A store has at most ${webhooksMax} webhooks.`);
  }
  const cursor = await positionBefore(store, terms.from);
  const secret = generateSecret();
  const webhook: Webhook = {
    id: randomId("wh_"),
    name,
    url: terms.url,
    filter,
    secrets: { current: secret, previous: null, previousExpiresAt: null },
    createdAt: by.now,
    state: "active",
    stateReason: null,
    version: 1,
    replays: 0,
    cursor,
    ...notFailing,
  };
  const details = { name, url: withoutSecrets(terms.url) };
  const entry = auditEntry(by, "webhook.created", webhook.id, details);
  await store.webhooks.addWebhook(webhook, entry);
  return { webhook, secret, isResolved };
}

export async function listWebhooks(store: WebhooksAndLedger): Promise<readonly WebhookStatus[]> {
  const webhooks = await store.webhooks.listWebhooks();
  const head = await store.inventory.readHead();
  return webhooks.map((webhook) => ({
    webhook,
    behind: behindOf(webhook, head.seq),
    attempts: [],
  }));
}

/** One webhook with its last attempts. */
export async function getWebhookStatus(
  store: WebhooksAndLedger,
  id: string,
): Promise<WebhookStatus> {
  const webhook = await getWebhook(store, id);
  const head = await store.inventory.readHead();
  const attempts = await store.webhooks.listAttempts(id, attemptsKept);
  return { webhook, behind: behindOf(webhook, head.seq), attempts };
}

/** Issues a new secret for a webhook. For `overlapMs`, messages are also signed with the old one. */
export async function rotateSecret(
  store: Webhooks,
  id: string,
  by: By,
  overlapMs = defaultOverlapMs,
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  if (!(overlapMs >= 0)) throw new InvalidField("overlap", "must not be negative");
  const secret = generateSecret();
  const entry = auditEntry(by, "webhook.rotated", id);
  const webhook = await change(store, id, entry, ({ secrets: { current } }) => ({
    secrets:
      overlapMs > 0
        ? { current: secret, previous: current, previousExpiresAt: by.now + overlapMs }
        : { current: secret, previous: null, previousExpiresAt: null },
  }));
  return { webhook, secret };
}

/**
 * Stops the deliveries. An attempt that is under way is completed. A webhook that is already paused or
 * disabled does not change.
 */
export function pauseWebhook(store: Webhooks, id: string, by: By): Promise<Webhook> {
  return change(store, id, auditEntry(by, "webhook.paused", id), ({ state }) =>
    state === "active" ? { state: "paused", stateReason: "paused by an operator" } : undefined,
  );
}

/**
 * Continues after the last delivered change. If the webhook is failing, the next attempt is made at once. A
 * webhook that is active and not failing does not change.
 */
export function resumeWebhook(store: Webhooks, id: string, by: By): Promise<Webhook> {
  const active = { state: "active", stateReason: null, ...notFailing } as const;
  return change(store, id, auditEntry(by, "webhook.resumed", id), ({ state, failures }) =>
    state === "active" && failures === 0 ? undefined : active,
  );
}

/** Delivers from this change on, with new message ids. A paused or disabled webhook stays so. */
export async function replayWebhook(
  store: WebhooksAndLedger,
  id: string,
  from: number,
  by: By,
): Promise<Webhook> {
  await getWebhook(store, id);
  const cursor = await positionBefore(store, from);
  const entry = auditEntry(by, "webhook.replayed", id, { from });
  return change(store, id, entry, ({ replays }) => ({
    cursor,
    replays: replays + 1,
    ...notFailing,
  }));
}

export async function deleteWebhook(store: Webhooks, id: string, by: By): Promise<Webhook> {
  const webhook = await getWebhook(store, id);
  const details = { name: webhook.name, url: withoutSecrets(webhook.url) };
  const entry = auditEntry(by, "webhook.removed", id, details);
  if (!(await store.webhooks.removeWebhook(id, entry))) throw notFound(id);
  return webhook;
}

const notFailing = { failures: 0, failingSince: null, nextAttemptAt: 0 } as const;

/** The position before the change `from`, or at the end of the ledger. */
async function positionBefore(
  { inventory }: Pick<LedgerParts, "inventory">,
  from: number | undefined,
): Promise<Position> {
  const head = await inventory.readHead();
  const seq = from === undefined ? head.seq : checkFrom(from, head.seq) - 1;
  return positionOf(await inventory.listEpochs(), seq) ?? { epoch: head.epoch, seq };
}

/** How often a change is tried if other operators change the webhook at the same time. */
const triesMax = 5;

async function change(
  { webhooks }: Webhooks,
  id: string,
  entry: AuditEntry,
  changeOf: (webhook: Webhook) => WebhookChange | undefined,
): Promise<Webhook> {
  for (let tries = 0; tries < triesMax; tries++) {
    const webhook = await getWebhook({ webhooks }, id);
    const wanted = changeOf(webhook);
    if (!wanted) return webhook;
    if (await webhooks.changeWebhook(id, webhook.version, wanted, entry)) {
      return { ...webhook, ...wanted, version: webhook.version + 1 };
    }
  }
  throw unavailable("busy");
}

export async function getWebhook({ webhooks }: Webhooks, id: string): Promise<Webhook> {
  const webhook = await webhooks.findWebhook(id);
  if (!webhook) throw notFound(id);
  return webhook;
}

export function notFound(id: string): ServiceError {
  return new ServiceError("not_found", `There is no webhook ${id}.`);
}

function behindOf({ cursor }: Webhook, headSeq: number): number {
  return Math.max(0, headSeq - cursor.seq);
}
