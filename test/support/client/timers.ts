import type { Clock } from "../../../client/src/clock.ts";
import type { TestClock } from "../clock.ts";
import type { Traffic } from "./load.ts";

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

/**
 * The client's view of a clock that stands still until it is moved. Made over the service's clock
 * it puts both into the same time; `skewMs` is how far the client's own clock is ahead.
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
      // Clocks show whole milliseconds, as Date.now() does.
      const timer = { atMs: Math.ceil(this.now() + Math.max(0, ms)), fire };
      this.#timers.add(timer);
      signal.addEventListener("abort", fire, { once: true });
      for (const wake of this.#onSleep.splice(0)) wake();
    });
  }

  /** Settles when somebody goes to sleep. */
  nextSleep(): Promise<void> {
    return new Promise((resolve) => this.#onSleep.push(resolve));
  }

  /** Moves to the nearest timer and fires it; false when there is none. */
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

/** Settles `work`, moving the clock on whenever everything waits for it. */
export async function runOut<T>(
  clock: ManualClock,
  traffic: Traffic,
  work: Promise<T>,
): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  work.then(settle, settle);
  for (;;) {
    await traffic.idle();
    if (isSettled) return work;
    if (!clock.advance()) throw new Error("Nothing on its way, nothing to wait for, and no result");
  }
}
