import type { Clock } from "../../client/src/clock.ts";
import type { Fetch } from "../../client/src/options.ts";

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #nowMs: number;
  #onSleep: (() => void)[] = [];

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const fire = () => {
        this.#timers.delete(timer);
        resolve();
      };
      const timer = { atMs: this.#nowMs + Math.max(0, ms), fire };
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
    this.#nowMs = Math.max(this.#nowMs, ms);
    for (const timer of [...this.#timers]) if (timer.atMs <= this.#nowMs) timer.fire();
  }
}

/** Real requests, watched: a simulated clock may only move while none is on its way. */
export class Traffic {
  #inFlight = 0;
  #onIdle: (() => void)[] = [];

  readonly fetch: Fetch = async (url, init) => {
    this.#inFlight++;
    try {
      const response = await fetch(url, init);
      const body = await response.arrayBuffer();
      const { status, headers } = response;
      return new Response(status === 304 ? null : body, { status, headers });
    } finally {
      if (--this.#inFlight === 0) for (const wake of this.#onIdle.splice(0)) wake();
    }
  };

  async idle(): Promise<void> {
    // A few turns of the event loop let calls that were just answered send their next request.
    for (let turn = 0; turn < 4; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#inFlight === 0) continue;
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
      turn = 0;
    }
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
