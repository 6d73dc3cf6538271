import { headersOf, type Message } from "./message.ts";
import type { Pace } from "./pace.ts";
import type { WebhookAnswer, WebhookSender } from "./sender.ts";
import type { Webhook, WebhookAttempt } from "./webhook.ts";

export interface SendParts {
  readonly sender: Pick<WebhookSender, "send">;
  readonly pace: Pace;
  readonly monotonicMs: () => number;
  readonly userAgent: string;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
}

/** Roughly the time that handshake, request and response take of the event loop later. */
const connectionMs = 1;

/** Makes one attempt. Never throws. */
export function sendMessage(
  { sender, pace, monotonicMs, userAgent, signal }: SendParts,
  webhook: Webhook,
  message: Message,
  now: number,
): Promise<WebhookAnswer> {
  const startedAt = monotonicMs();
  const headers = headersOf(message, webhook, now, userAgent);
  const answer = sender.send({ url: webhook.url, headers, body: message.body }, signal);
  pace.spend(monotonicMs() - startedAt + connectionMs);
  return answer;
}

/** An entry of the delivery log. */
export function attemptOf(message: Message, at: number, answer: WebhookAnswer): WebhookAttempt {
  return {
    at,
    messageId: message.id,
    firstSeq: message.first.seq,
    lastSeq: message.last.seq,
    changes: message.changes,
    durationMs: answer.durationMs,
    status: answer.status,
    error: answer.error,
    answer: answer.text,
  };
}

export function isSuccess({ status }: WebhookAnswer): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** What happened, in a few words. */
export function resultOf({ status, error }: Pick<WebhookAttempt, "status" | "error">): string {
  return status === null ? (error ?? "no response") : `status ${status}`;
}
