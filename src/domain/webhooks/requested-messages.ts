import { auditEntry, type By } from "../audit/audit.ts";
import { positionOf } from "../ledger/epochs.ts";
import type { LedgerParts } from "../ledger/store.ts";
import { pageRows } from "../ledger/tail.ts";
import { monotonicMs, yieldToEventLoop } from "../running/background.ts";
import { ServiceError, unavailable } from "../running/errors.ts";
import { matcherOf, type ThresholdParts } from "./filter.ts";
import { getWebhook, notFound } from "./lifecycle.ts";
import { attemptOf, headersOf, type Message, scanLedger, testMessageOf } from "./message.ts";
import type { WebhookSender } from "./sender.ts";
import type { WebhookStore } from "./store.ts";
import { attemptsKept, isConfirmed, type Webhook, type WebhookAttempt } from "./webhook.ts";

/**
 * Messages that an operator asks for. Each is sent once, by this process, whatever the state of the webhook.
 * The log and the audit log have it. The position, the state and the retries of the webhook do not change.
 */
export interface RequestedMessages {
  /** Sends a message without changes. */
  test(id: string, by: By, signal: AbortSignal): Promise<WebhookAttempt>;
  /** Sends a message of the log again, with the same id. It is made from the ledger once more. */
  resend(id: string, messageId: string, by: By, signal: AbortSignal): Promise<WebhookAttempt>;
}

export interface RequestedMessagesOptions extends ThresholdParts {
  readonly store: ThresholdParts["store"] &
    Pick<LedgerParts, "inventory" | "history"> & { readonly webhooks: WebhookStore };
  readonly sender: Pick<WebhookSender, "send">;
  readonly userAgent: string;
}

export const beingSent = "A message of this webhook is being sent. Wait for its response.";
export const testNotResent = "A test message is not sent again. Send a new one.";
export const notInLog = "The log of the webhook has no message with this ID.";
export const madeDifferently =
  "The message cannot be made again, because its rows or the thresholds of pets have changed.";

export function createRequestedMessages(options: RequestedMessagesOptions): RequestedMessages {
  const { store, sender, userAgent } = options;
  /** One message at a time, as in deliveries, so that nobody can flood a receiver. */
  const busy = new Set<string>();

  async function send(
    action: "webhook.tested" | "webhook.resent",
    id: string,
    by: By,
    signal: AbortSignal,
    make: (webhook: Webhook) => Message | Promise<Message>,
  ): Promise<WebhookAttempt> {
    if (busy.has(id)) throw new ServiceError("already_running", beingSent);
    busy.add(id);
    try {
      const webhook = await getWebhook(store, id);
      const message = await make(webhook);
      const headers = headersOf(message, webhook, by.now, userAgent);
      const request = { url: webhook.url, headers, body: message.body };
      const answer = await sender.send(request, signal);
      // Nobody waits for the result any more, and the receiver has not failed.
      if (!isConfirmed(answer) && signal.aborted) throw unavailable("stopping");
      const attempt = attemptOf(message, by.now, answer);
      const entry = auditEntry(by, action, id, { messageId: message.id });
      if (!(await store.webhooks.addAttempt(id, attempt, entry))) throw notFound(id);
      return attempt;
    } finally {
      busy.delete(id);
    }
  }

  async function remake(webhook: Webhook, messageId: string, signal: AbortSignal) {
    const attempts = await store.webhooks.listAttempts(webhook.id, attemptsKept);
    const sent = attempts.find((attempt) => attempt.messageId === messageId);
    if (!sent) throw new ServiceError("not_found", notInLog);
    if (sent.changes === 0) throw new ServiceError("invalid_request", testNotResent);
    const { firstSeq, lastSeq: upTo } = sent;
    const epochs = await store.inventory.listEpochs();
    const tail = {
      rowsAfter: (after: number) =>
        after < upTo ? store.history.listRows({ after, upTo }, pageRows) : [],
      positionAt: (seq: number) => positionOf(epochs, seq)!,
    };
    const pacer = { turn: yieldToEventLoop, spend: () => false };
    const parts = { tail, pacer, monotonicMs, signal };
    const matcher = matcherOf(webhook.filter, options);
    const { message } = await scanLedger(parts, webhook, matcher, firstSeq - 1, messageId);
    if (!message) throw new ServiceError("not_found", madeDifferently);
    return message;
  }

  return {
    test: (id, by, signal) =>
      send("webhook.tested", id, by, signal, (webhook) => testMessageOf(webhook, by.now)),
    resend: (id, messageId, by, signal) =>
      send("webhook.resent", id, by, signal, (webhook) => remake(webhook, messageId, signal)),
  };
}
