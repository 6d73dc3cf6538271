import type { Clock } from "./clock.js";
import { ApiError, TimeoutError } from "./errors.js";
import type { Lesson } from "./limits.js";
import { type Permit, type Verdict, WindowKnowledge } from "./window.js";

/** An answer as the gate sees it. */
export interface Report {
  readonly status: number;
  readonly lesson: Lesson | undefined;
  readonly retryAfterMs: number | undefined;
}

interface Waiter {
  readonly deadlineMs: number;
  /** Aborted when the waiter is let through or turned away: ends its timer and its listener. */
  readonly done: AbortController;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The one door through which all requests of a client leave, in the order in which they came.
 * Calls that run in parallel share what any of them learns about the limit.
 */
export class Gate {
  readonly #clock: Clock;
  readonly #knowledge: WindowKnowledge;
  readonly #waiters = new Set<Waiter>();
  #alarm: { kind: Verdict["kind"]; untilMs: number; off: AbortController } | undefined;

  constructor(clock: Clock, parallelMax: number) {
    this.#clock = clock;
    this.#knowledge = new WindowKnowledge(parallelMax);
  }

  /**
   * Waits for the turn to send one request; the caller owes an `answered` or a `lost` for it.
   * Rejects with the signal's reason when that aborts, and at the deadline; at once when the limit
   * is known to stay used up beyond the deadline.
   */
  enter(deadlineMs: number, signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const waiter = { deadlineMs, done: new AbortController(), resolve, reject };
      this.#waiters.add(waiter);
      this.#admit();
      if (!this.#waiters.has(waiter)) return;
      const verdict = this.#knowledge.judge(this.#clock.now());
      if (isHopeless(waiter, verdict)) return this.#turnAway(waiter);
      const giveUp = () => this.#remove(waiter) && reject(signal.reason);
      signal.addEventListener("abort", giveUp, { signal: waiter.done.signal });
      this.#watchDeadline(waiter);
    });
  }

  answered(permit: Permit, report: Report): void {
    const nowMs = this.#clock.now();
    if (report.lesson === undefined) this.#knowledge.lost();
    else this.#knowledge.learn(permit, report.lesson, nowMs);
    const { status, retryAfterMs } = report;
    if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
      this.#knowledge.rest(status, retryAfterMs, nowMs);
    }
    this.#admit();
  }

  lost(): void {
    this.#knowledge.lost();
    this.#admit();
  }

  #admit(): void {
    for (const waiter of this.#waiters) {
      const nowMs = this.#clock.now();
      const verdict = this.#knowledge.judge(nowMs);
      if (verdict.kind !== "go") {
        this.#setAlarm(verdict);
        return;
      }
      this.#remove(waiter);
      waiter.resolve(this.#knowledge.sent(nowMs));
    }
    this.#cancelAlarm();
  }

  #setAlarm(verdict: Exclude<Verdict, { kind: "go" }>): void {
    const { kind, untilMs } = verdict;
    if (this.#alarm?.kind === kind && this.#alarm.untilMs === untilMs) return;
    this.#cancelAlarm();
    for (const waiter of this.#waiters) if (isHopeless(waiter, verdict)) this.#turnAway(waiter);
    if (this.#waiters.size === 0) return;
    const alarm = { kind, untilMs, off: new AbortController() };
    this.#alarm = alarm;
    if (untilMs === Number.POSITIVE_INFINITY) return;
    this.#clock.sleep(untilMs - this.#clock.now(), alarm.off.signal).then(() => {
      if (this.#alarm !== alarm) return;
      this.#alarm = undefined;
      this.#admit();
    });
  }

  async #watchDeadline(waiter: Waiter): Promise<void> {
    await this.#clock.sleep(waiter.deadlineMs - this.#clock.now(), waiter.done.signal);
    if (this.#waiters.has(waiter)) this.#turnAway(waiter);
  }

  #cancelAlarm(): void {
    this.#alarm?.off.abort();
    this.#alarm = undefined;
  }

  /** The alarm goes with the last waiter: a timer nobody waits for would keep the program alive. */
  #remove(waiter: Waiter): boolean {
    waiter.done.abort();
    const isRemoved = this.#waiters.delete(waiter);
    if (this.#waiters.size === 0) this.#cancelAlarm();
    return isRemoved;
  }

  #turnAway(waiter: Waiter): void {
    this.#remove(waiter);
    const nowMs = this.#clock.now();
    const verdict = this.#knowledge.judge(nowMs);
    if (verdict.kind !== "closed") {
      waiter.reject(new TimeoutError("The time for this call ran out before its turn to be sent"));
      return;
    }
    const retryAfter = Math.ceil((verdict.untilMs - nowMs) / 1000);
    waiter.reject(
      new ApiError({
        code: verdict.status === 429 ? "rate_limit_exceeded" : "unavailable",
        status: verdict.status,
        retryAfter,
        message: `Not sent: the service admits no request for another ${retryAfter} s`,
      }),
    );
  }
}

function isHopeless(waiter: Waiter, verdict: Verdict): boolean {
  return verdict.kind === "closed" && verdict.untilMs > waiter.deadlineMs;
}
