import type { Position } from "../ledger/epochs.ts";
import type { PetStatus } from "../ledger/inventory.ts";
import type { Cause } from "../ledger/ledger.ts";

export const webhookStates = ["active", "paused", "disabled"] as const;
/**
 * `paused`: by an operator, or because every attempt failed for days. `disabled`: the receiver
 * returned 410. Both keep the cursor, so that `resume` continues without a gap.
 */
export type WebhookState = (typeof webhookStates)[number];

/** Which changes a webhook receives. A change must match every field that is not null or false. */
export interface WebhookFilter {
  readonly pets: readonly bigint[] | null;
  /** Statuses after the change. For a removed pet, the status before it. */
  readonly statuses: readonly PetStatus[] | null;
  readonly causes: readonly Cause[] | null;
  /** Only changes in which the quantity fell below this number: from it or more, to less. */
  readonly below: number | null;
  /** Only changes by which the entry became low, by its threshold when the change is read. */
  readonly becomesLow: boolean;
}

/** Both secrets sign while the previous one is valid. Texts start with `whsec_`. */
export interface WebhookSecrets {
  readonly current: string;
  readonly previous: string | null;
  readonly previousExpiresAt: number | null;
}

/** What a webhook has delivered, and when it tries again. */
export interface WebhookProgress {
  /** The last row that was delivered, or that the filter excluded. */
  readonly cursor: Position;
  /** Attempts that failed since the last success. */
  readonly failures: number;
  /** When the first of them failed, plus the time in which no attempt was made. Null if there is none. */
  readonly failingSince: number | null;
  /** No attempt before this time. 0 if there is nothing to wait for. */
  readonly nextAttemptAt: number;
}

/** An address that receives changes. Times in milliseconds since 1970. */
export interface Webhook extends WebhookProgress {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly filter: WebhookFilter;
  readonly secrets: WebhookSecrets;
  readonly createdAt: number;
  readonly state: WebhookState;
  /** Why it is not active, for operators. Null while it is. */
  readonly stateReason: string | null;
  /** Incremented by every change that an operator makes. */
  readonly version: number;
  /** Incremented by every replay. Messages that are sent again then have new ids. */
  readonly replays: number;
}

/** One attempt to deliver a message. */
export interface WebhookAttempt {
  readonly at: number;
  readonly messageId: string;
  /** The first and the last change in the message, and their number. All 0 for a test message. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly changes: number;
  readonly durationMs: number;
  /** The HTTP status, or null if there was no complete response. */
  readonly status: number | null;
  /** Why the attempt failed without a response. Null if there was one. */
  readonly error: string | null;
  /** The beginning of the response body, at most `answerBytesMax` bytes. */
  readonly answer: string;
}

export const answerBytesMax = 1_024;
/** Attempts that the delivery log keeps per webhook. */
export const attemptsKept = 50;

/** Whether the receiver has accepted the message. */
export function isConfirmed({ status }: Pick<WebhookAttempt, "status">): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** What happened in an attempt, in a few words. */
export function resultOf({ status, error }: Pick<WebhookAttempt, "status" | "error">): string {
  return status === null ? (error ?? "no response") : `status ${status}`;
}
