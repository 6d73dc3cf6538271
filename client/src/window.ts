import type { LimitUpdate } from "./limits.js";

/**
 * Whether a request may be sent now. `wait` ends at a time or with the next response, whichever comes
 * first. `closed` lasts until its time; its status is the reason.
 */
export type Decision =
  | { readonly kind: "go" }
  | { readonly kind: "wait"; readonly untilMs: number }
  | { readonly kind: "closed"; readonly untilMs: number; readonly status: 429 | 503 };

/** The permission to send one request. */
export interface Permit {
  /** The position in the sequence of all sent requests and received updates. */
  readonly order: number;
}

interface KnownWindow {
  remaining: number;
  endsAtMs: number;
  resetMs: number;
  receivedAtMs: number;
  order: number;
}

/**
 * How long after a response a burst is allowed. The service does not count 429 responses in the first
 * second after a window is exhausted. A burst within a second of an admitted request is therefore
 * safe, even if another program with the same key has just exhausted the window.
 */
const burstMs = 1000;

/**
 * The interval between requests when no recent response allows a burst. The next request is sent when
 * the last one ends or is this old, so that a hanging request does not block the others. Twelve
 * requests a minute are below the twenty 429 responses that ban a key, even if all twelve get one.
 */
const probeIntervalMs = 5000;

/** The pause after a 429 without `Retry-After`: the smallest value that the header can have. */
const defaultPauseMs = 1000;

const never = Number.NEGATIVE_INFINITY;

/**
 * Tracks the rate limit of the key from responses alone. It guarantees that this client never sends
 * more requests than the service reported as remaining.
 *
 * A response reports how many requests were left when the service counted its request. Requests that
 * were counted later either have a response, with a lower number, or are in flight. So the lowest
 * number seen, minus the requests in flight, is always available.
 */
export class WindowTracker {
  readonly #parallelMax: number;
  #known: KnownWindow | undefined;
  #pause: { untilMs: number; status: 429 | 503 } = { untilMs: never, status: 429 };
  #lastSentAtMs = never;
  #order = 0;
  #inFlight = 0;
  /** Requests without a usable response since the last update. The service may have counted them. */
  #lost = 0;

  constructor(parallelMax: number) {
    this.#parallelMax = parallelMax;
  }

  decide(nowMs: number): Decision {
    if (nowMs < this.#pause.untilMs) return { kind: "closed", ...this.#pause };
    if (this.#known !== undefined && nowMs >= this.#known.endsAtMs) this.#known = undefined;
    const known = this.#known;
    if (known?.remaining === 0) return { kind: "closed", untilMs: known.endsAtMs, status: 429 };
    if (this.#inFlight === 0) return { kind: "go" };
    if (this.#inFlight >= this.#parallelMax) {
      return { kind: "wait", untilMs: Number.POSITIVE_INFINITY };
    }
    if (known !== undefined && this.#inFlight >= known.remaining) {
      return { kind: "wait", untilMs: known.endsAtMs };
    }
    return this.#decideInParallel(known, nowMs);
  }

  /** Decides while other requests are in flight: sends as part of a burst, or else as a probe. */
  #decideInParallel(known: KnownWindow | undefined, nowMs: number): Decision {
    const isRecent = known !== undefined && nowMs - known.receivedAtMs <= burstMs;
    if (isRecent && this.#inFlight + this.#lost < known.remaining) return { kind: "go" };
    const probeAtMs = this.#lastSentAtMs + probeIntervalMs;
    return nowMs >= probeAtMs ? { kind: "go" } : { kind: "wait", untilMs: probeAtMs };
  }

  recordSent(nowMs: number): Permit {
    this.#inFlight++;
    this.#lastSentAtMs = nowMs;
    return { order: ++this.#order };
  }

  /** Records a request that got no response, or one without rate limit headers. */
  recordLost(): void {
    this.#inFlight--;
    this.#lost++;
  }

  recordUpdate(permit: Permit, update: LimitUpdate, nowMs: number): void {
    this.#inFlight--;
    const received: KnownWindow = {
      remaining: update.remaining,
      endsAtMs: nowMs + update.endsInMs,
      resetMs: update.resetsAt.getTime(),
      receivedAtMs: nowMs,
      order: ++this.#order,
    };
    const known = this.#known;
    // The service counted a request after the last update if it was sent after that update. Its
    // response replaces what is known, even with a higher number: the plan may have changed, or an
    // operator may have raised the limit or lifted a ban.
    if (known === undefined || permit.order > known.order) {
      this.#lost = 0;
      this.#known = received;
    } else if (received.resetMs === known.resetMs) {
      received.remaining = Math.min(received.remaining, known.remaining);
      received.endsAtMs = Math.min(received.endsAtMs, known.endsAtMs);
      this.#known = received;
    } else if (received.resetMs > known.resetMs) {
      this.#known = received;
    }
  }

  /** Stops all requests for the time in `Retry-After`, after a 429 or a 503. */
  recordPause(status: 429 | 503, retryAfterMs: number | undefined, nowMs: number): void {
    const untilMs = nowMs + (retryAfterMs ?? defaultPauseMs);
    if (untilMs > this.#pause.untilMs) this.#pause = { untilMs, status };
    // An exhausted window ends with the pause. `Retry-After` does not depend on either clock.
    if (status === 429 && retryAfterMs !== undefined && this.#known?.remaining === 0) {
      this.#known.endsAtMs = untilMs;
    }
  }
}
