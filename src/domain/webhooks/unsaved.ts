import { attemptsKept, type WebhookAttempt } from "./webhook.ts";

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
  /** Cancels the save that is due. Attempts stay, for the next save. */
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
