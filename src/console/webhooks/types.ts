// The shapes of webhooks in the operator API.

export interface WebhookFilter {
  /** Ids of pets as decimal strings. */
  readonly pets: readonly string[] | null;
  readonly statuses: readonly string[] | null;
  readonly causes: readonly string[] | null;
  readonly below: number | null;
}

export interface Webhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly state: "active" | "paused" | "disabled";
  /** Why it is not active. */
  readonly stateReason: string | null;
  readonly createdAt: string;
  readonly filter: WebhookFilter;
  /** The last change that was delivered, or that the filter excluded. */
  readonly cursor: number;
  readonly behind: number;
  readonly failures: number;
  readonly failingSince: string | null;
  readonly nextAttemptAt: string | null;
  readonly oldSecretUntil: string | null;
}

export interface WebhookAttempt {
  readonly at: string;
  readonly messageId: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly changes: number;
  readonly durationMs: number;
  readonly status: number | null;
  /** Why there was no response. */
  readonly error: string | null;
  /** The beginning of the response body. */
  readonly answer: string;
}

export interface WebhookWithAttempts extends Webhook {
  readonly attempts: readonly WebhookAttempt[];
}

export interface WebhookWithSecret extends Webhook {
  readonly secret: string;
}

export interface CreatedWebhook extends WebhookWithSecret {
  /** False if the host of the URL does not resolve at the moment. */
  readonly isResolved: boolean;
}

/** Why a change was made. A test compares the list with that of the service. */
export const causeChoices: readonly (readonly [name: string, meaning: string])[] = [
  ["api", "A client of the API"],
  ["import", "An import"],
  ["undo", "An undo"],
  ["console", "An operator in the console"],
];
