import { auditEntry, type By } from "../audit/audit.ts";
import { positionOf } from "../ledger/epochs.ts";
import type { LedgerParts } from "../ledger/store.ts";
import { pageRows } from "../ledger/tail.ts";
import { invalidRequest, ServiceError } from "../running/errors.ts";
import type { DeliveryOptions } from "./delivery.ts";
import { matcherOf } from "./filter.ts";
import { getWebhook, notFound } from "./lifecycle.ts";
import { attemptOf, headersOf, scanLedger, testMessageOf } from "./message.ts";
import { attemptsKept, type Webhook, type WebhookAttempt } from "./webhook.ts";

/**
 * Sends a message that an operator asks for: the one of the log with this id, made from the ledger once more,
 * or without an id a test. It is sent once, by this process, whatever the state of the webhook. The log and
 * the audit log have it. The position, the state and the retries of the webhook do not change.
 */
export type SendMessage = (
  id: string,
  messageId: string | undefined,
  by: By,
  signal: AbortSignal,
) => Promise<WebhookAttempt>;

interface Parts extends Pick<DeliveryOptions, "sender" | "lowStockAt" | "userAgent"> {
  readonly store: DeliveryOptions["store"] & Pick<LedgerParts, "history">;
}

/** Why a message is not sent. */
export const refusals = {
  beingSent: "A message of this webhook is being sent. Wait for its response.",
  notInLog: "The log of the webhook has no message with this ID.",
  isTest: "A test message is not sent again. Send a new one.",
  isChanged:
    "The message cannot be made again, because its rows or the thresholds of pets have changed.",
};

export function createSendMessage(parts: Parts): SendMessage {
  const { store, sender, userAgent } = parts;
  /** One message at a time, as in deliveries, so that nobody can flood a receiver. */
  const busy = new Set<string>();

  async function remake(webhook: Webhook, messageId: string, signal: AbortSignal) {
    const attempts = await store.webhooks.listAttempts(webhook.id, attemptsKept);
    const sent = attempts.find((attempt) => attempt.messageId === messageId);
    if (!sent) throw new ServiceError("not_found", refusals.notInLog);
    if (sent.changes === 0) throw invalidRequest(refusals.isTest);
    const { firstSeq, lastSeq: upTo } = sent;
    const epochs = await store.inventory.listEpochs();
    const rowsAfter = (after: number) =>
      after < upTo ? store.history.listRows({ after, upTo }, pageRows) : [];
    const tail = { rowsAfter, positionAt: (seq: number) => positionOf(epochs, seq)! };
    const scan = { tail, signal };
    const matcher = matcherOf(webhook.filter, parts);
    const { message } = await scanLedger(scan, webhook, matcher, firstSeq - 1, messageId);
    if (!message) throw new ServiceError("not_found", refusals.isChanged);
    return message;
  }

  async function send(...[id, messageId, by, signal]: Parameters<SendMessage>) {
    const isTest = messageId === undefined;
    const webhook = await getWebhook(store, id);
    const message = isTest
      ? testMessageOf(webhook, by.now)
      : await remake(webhook, messageId, signal);
    const headers = headersOf(message, webhook, by.now, userAgent);
    const answer = await sender.send({ url: webhook.url, headers, body: message.body }, signal);
    // Also if nobody waits for the result any more: the receiver may have the message.
    const attempt = attemptOf(message, by.now, answer);
    const action = isTest ? "webhook.tested" : "webhook.resent";
    const entry = auditEntry(by, action, id, { messageId: message.id });
    if (!(await store.webhooks.addAttempt(id, attempt, entry))) throw notFound(id);
    return attempt;
  }

  return async (id, ...asked) => {
    if (busy.has(id)) throw new ServiceError("already_running", refusals.beingSent);
    busy.add(id);
    return send(id, ...asked).finally(() => busy.delete(id));
  };
}
