import type { Clock } from "../../../client/src/clock.ts";
import type { TestClock } from "../clock.ts";
import type { FetchRecorder } from "./fetch-recorder.ts";

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

/**
 * A client clock that advances only on request. It wraps the clock of the service, so that client and
 * service share the same time. `skewMs` is how far the client's clock is ahead.
 */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #time: TestClock;
  readonly #skewMs: number;
  #onSleep: (() => void)[] = [];

  constructor(time: TestClock, skewMs = 0) {
    this.#time = time;
    this.#skewMs = skewMs;
  }

  now(): number {
    return this.#time.now() + this.#skewMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const fire = () => {
        this.#timers.delete(timer);
        resolve();
      };
      // Like Date.now(), this clock shows whole milliseconds.
      const timer = { atMs: Math.ceil(this.now() + Math.max(0, ms)), fire };
      this.#timers.add(timer);
      signal.addEventListener("abort", fire, { once: true });
      for (const resolveWaiting of this.#onSleep.splice(0)) resolveWaiting();
    });
  }

  /** Resolves on the next call of `sleep`. */
  nextSleep(): Promise<void> {
    return new Promise((resolve) => this.#onSleep.push(resolve));
  }

  /** Advances to the next timer and fires it. Returns false if there is none. */
  advance(): boolean {
    const atMs = Math.min(...[...this.#timers].map((timer) => timer.atMs));
    if (!Number.isFinite(atMs)) return false;
    this.advanceTo(atMs);
    return true;
  }

  advanceTo(ms: number): void {
    this.#time.set(Math.max(this.#time.now(), ms - this.#skewMs));
    for (const timer of [...this.#timers]) if (timer.atMs <= this.now()) timer.fire();
  }
}

/** Waits for `work`, and advances the clock whenever everything waits for a timer. */
export async function runToCompletion<T>(
  clock: ManualClock,
  recorder: FetchRecorder,
  work: Promise<T>,
): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  work.then(settle, settle);
  for (;;) {
    await recorder.waitUntilIdle();
    if (isSettled) return work;
    if (!clock.advance()) throw new Error("The work is pending without a request or a timer");
  }
}
