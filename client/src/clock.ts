/**
 * The time source of a client. All waiting and all timeouts use it, so a simulated clock controls the
 * whole client in tests.
 */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. Must never go back. */
  now(): number;
  /** Resolves after `ms` milliseconds or when the signal aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The longest delay of a timer: a longer one does not fit into 32 bits and fires immediately. */
const timerMsMax = 2 ** 31 - 1;

export const systemClock: Clock = {
  // Date.now() jumps when the system time is set, which could end a rate limit window too early.
  now: () => performance.timeOrigin + performance.now(),

  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const timer = setTimeout(finish, Math.min(Math.ceil(ms), timerMsMax));
      signal.addEventListener("abort", finish);
    }),
};
