import type { Message } from "./message.ts";
import type { WebhookAnswer } from "./sender.ts";
import { attemptsKept, type WebhookAttempt } from "./webhook.ts";

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

/** What a delivery has to save, and when. Times by the monotonic clock. */
export interface Unsaved {
  /** Infinity if everything is saved. */
  readonly saveAt: number;
  saveWithin(delayMs: number): void;
  addAttempt(attempt: WebhookAttempt): void;
  /** Takes the attempts that are not saved. Everything counts as saved from then on. */
  take(): readonly WebhookAttempt[];
  /** Puts back attempts that could not be saved. */
  putBack(taken: readonly WebhookAttempt[]): void;
  /** Nothing needs to be saved any more, apart from the attempts with the next save. */
  forget(): void;
}

export function createUnsaved(monotonicMs: () => number): Unsaved {
  let attempts: readonly WebhookAttempt[] = [];
  let saveAt = Infinity;
  return {
    get saveAt() {
      return saveAt;
    },
    saveWithin(delayMs) {
      saveAt = Math.min(saveAt, monotonicMs() + delayMs);
    },
    addAttempt(attempt) {
      attempts = [...attempts, attempt].slice(-attemptsKept);
    },
    take() {
      const taken = attempts;
      attempts = [];
      saveAt = Infinity;
      return taken;
    },
    putBack(taken) {
      attempts = [...taken, ...attempts].slice(-attemptsKept);
      saveAt = monotonicMs();
    },
    forget() {
      saveAt = Infinity;
    },
  };
}
