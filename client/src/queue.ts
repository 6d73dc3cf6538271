import type { Clock } from "./clock.js";
import { ApiError, TimeoutError } from "./errors.js";
import type { LimitUpdate } from "./limits.js";
import { type Decision, type Permit, WindowTracker } from "./window.js";

/** The parts of a response that affect the queue. */
export interface ResponseReport {
  readonly status: number;
  readonly limits: LimitUpdate | undefined;
  readonly retryAfterMs: number | undefined;
}

interface Waiter {
  readonly deadlineMs: number;
  /** Aborted when the waiter leaves the queue. Removes its timer and its listener. */
  readonly done: AbortController;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The queue of a client's requests. It releases them in order, as the rate limit allows. All calls
 * share what the responses report about the limit.
 */
export class RequestQueue {
  readonly #clock: Clock;
  readonly #window: WindowTracker;
  readonly #waiters = new Set<Waiter>();
  #timer: { kind: Decision["kind"]; untilMs: number; cancel: AbortController } | undefined;

  constructor(clock: Clock, parallelMax: number) {
    this.#clock = clock;
    this.#window = new WindowTracker(parallelMax);
  }

  /**
   * Waits until one request may be sent. The caller must then call `recordResponse` or `recordLost`
   * once. Rejects when the signal aborts or the deadline passes, and immediately if the rate limit is
   * known to be exhausted until after the deadline.
   */
  waitForPermit(deadlineMs: number, signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const waiter = { deadlineMs, done: new AbortController(), resolve, reject };
      this.#waiters.add(waiter);
      this.#admitWaiters();
      if (!this.#waiters.has(waiter)) return;
      const decision = this.#window.decide(this.#clock.now());
      if (isClosedPastDeadline(waiter, decision)) return this.#reject(waiter);
      const cancel = () => this.#remove(waiter) && reject(signal.reason);
      signal.addEventListener("abort", cancel, { signal: waiter.done.signal });
      if (deadlineMs !== Number.POSITIVE_INFINITY) this.#watchDeadline(waiter);
    });
  }

  recordResponse(permit: Permit, { status, limits, retryAfterMs }: ResponseReport): void {
    const nowMs = this.#clock.now();
    if (limits === undefined) this.#window.recordLost();
    else this.#window.recordUpdate(permit, limits, nowMs);
    // A 429 while requests are left is about this call alone: the key has too many open streams.
    const isOverLimit = status === 429 && (limits === undefined || limits.remaining === 0);
    if (isOverLimit || (status === 503 && retryAfterMs !== undefined)) {
      this.#window.recordPause(status, retryAfterMs, nowMs);
    }
    this.#admitWaiters();
  }

  /** Records a request that got no response. */
  recordLost(): void {
    this.#window.recordLost();
    this.#admitWaiters();
  }

  #admitWaiters(): void {
    for (const waiter of this.#waiters) {
      const nowMs = this.#clock.now();
      const decision = this.#window.decide(nowMs);
      if (decision.kind !== "go") {
        this.#setTimer(decision);
        return;
      }
      this.#remove(waiter);
      waiter.resolve(this.#window.recordSent(nowMs));
    }
    this.#cancelTimer();
  }

  #setTimer(decision: Exclude<Decision, { kind: "go" }>): void {
    const { kind, untilMs } = decision;
    if (this.#timer?.kind === kind && this.#timer.untilMs === untilMs) return;
    this.#cancelTimer();
    for (const waiter of this.#waiters) {
      if (isClosedPastDeadline(waiter, decision)) this.#reject(waiter);
    }
    if (this.#waiters.size === 0) return;
    const timer = { kind, untilMs, cancel: new AbortController() };
    this.#timer = timer;
    if (untilMs === Number.POSITIVE_INFINITY) return;
    this.#clock.sleep(untilMs - this.#clock.now(), timer.cancel.signal).then(() => {
      if (this.#timer !== timer) return;
      this.#timer = undefined;
      this.#admitWaiters();
    });
  }

  #cancelTimer(): void {
    this.#timer?.cancel.abort();
    this.#timer = undefined;
  }

  async #watchDeadline(waiter: Waiter): Promise<void> {
    await this.#clock.sleep(waiter.deadlineMs - this.#clock.now(), waiter.done.signal);
    if (this.#waiters.has(waiter)) this.#reject(waiter);
  }

  /** Also cancels the timer with the last waiter, because it would keep the program running. */
  #remove(waiter: Waiter): boolean {
    waiter.done.abort();
    const isRemoved = this.#waiters.delete(waiter);
    if (this.#waiters.size === 0) this.#cancelTimer();
    return isRemoved;
  }

  /** Rejects a waiter whose deadline has passed or cannot be met. */
  #reject(waiter: Waiter): void {
    this.#remove(waiter);
    const nowMs = this.#clock.now();
    const decision = this.#window.decide(nowMs);
    if (decision.kind !== "closed") {
      waiter.reject(new TimeoutError("The call timed out before its request could be sent"));
      return;
    }
    const retryAfter = Math.ceil((decision.untilMs - nowMs) / 1000);
    waiter.reject(
      new ApiError({
        code: decision.status === 429 ? "rate_limit_exceeded" : "unavailable",
        status: decision.status,
        retryAfter,
        message: `Request not sent: the service accepts no requests for another ${retryAfter} s`,
      }),
    );
  }
}

function isClosedPastDeadline(waiter: Waiter, decision: Decision): boolean {
  return decision.kind === "closed" && decision.untilMs > waiter.deadlineMs;
}
