import type { Position } from "../ledger/epochs.ts";
import type { Message } from "./message.ts";
import type { Delivered } from "./store.ts";
import type { Webhook, WebhookAttempt, WebhookProgress } from "./webhook.ts";

/** A message, and where the delivery continues after it. */
export interface Pending {
  readonly message: Message;
  readonly end: Position;
}

/** Everything that a delivery knows. `…At` are times of the monotonic clock, apart from those in `progress`. */
export interface DeliveryState {
  /** As it was last read. */
  webhook: Webhook;
  /**
   * The webhook whose progress the delivery started from. Undefined while it has to be read; nothing is
   * sent then. Results of work that started from another one are ignored.
   */
  begunWith: Webhook | undefined;
  progress: WebhookProgress;
  /** True once the cursor is known to be part of the ledger. */
  isLocated: boolean;
  /** True if there may be rows to send. A claim does not set it, because new rows are gathered first. */
  hasRows: boolean;
  pending: Pending | undefined;
  /** When the next attempt is made. `progress` has this time by the system clock. */
  retryAt: number;
  leaseEndsAt: number;
  isReleased: boolean;
  /** Set if a failure ends the deliveries. It is saved first. */
  ending: Delivered["ended"];
  /** Attempts that are not saved. */
  attempts: readonly WebhookAttempt[];
  /** When the progress has to be saved. Infinity if all of it is saved. */
  saveAt: number;
}

export function initialState(webhook: Webhook): DeliveryState {
  return {
    webhook,
    begunWith: undefined,
    progress: webhook,
    isLocated: false,
    hasRows: true,
    pending: undefined,
    retryAt: 0,
    leaseEndsAt: 0,
    isReleased: false,
    ending: undefined,
    attempts: [],
    saveAt: Infinity,
  };
}

/** What the next step depends on besides the state. */
export interface Situation {
  readonly now: number;
  readonly monotonicMs: number;
  /** The last row of the ledger. */
  readonly headSeq: number;
  /** An attempt starts only while this much of the lease is left. */
  readonly leaseLeftMinMs: number;
}

/** `leave`: save what is not saved, and end. `waitMs`: wait this long, or until something happens. */
export type Step = "leave" | "locate" | "scan" | "attempt" | { readonly waitMs: number };

const waitForNews: Step = { waitMs: Infinity };

/** What a delivery does next. */
export function nextStep(
  state: Readonly<DeliveryState>,
  { now, monotonicMs, headSeq, leaseLeftMinMs }: Situation,
): Step {
  const { progress, leaseEndsAt } = state;
  if (state.isReleased) return "leave";
  if (!state.begunWith || state.ending) return waitForNews;
  if (leaseEndsAt - monotonicMs < leaseLeftMinMs) return waitForNews;
  // The system clock may jump, so the first clock that reaches the time of the next attempt counts.
  const waitMs = Math.min(progress.nextAttemptAt - now, state.retryAt - monotonicMs);
  if (waitMs > 0) return { waitMs };
  if (!state.isLocated) return "locate";
  if (state.pending) return "attempt";
  return state.hasRows && progress.cursor.seq < headSeq ? "scan" : waitForNews;
}
