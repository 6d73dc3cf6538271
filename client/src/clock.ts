/**
 * Where a client takes its time from. Pass another one to drive it by a simulated clock; all waits
 * of a client, timeouts included, go through it.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. Must never go back. */
  now(): number;
  /** Settles after `ms` milliseconds, or as soon as the signal aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Timers take a signed 32-bit number of milliseconds and fire at once beyond it. */
const timerMsMax = 2 ** 31 - 1;

export const systemClock: Clock = {
  // Date.now() jumps when the machine's time is set; an open window must not seem closed by that.
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
