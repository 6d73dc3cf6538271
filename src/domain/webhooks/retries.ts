/** When a failed delivery is tried again. Times in milliseconds. */

const hourMs = 3_600_000;
const firstDelayMs = 5_000;
const delayMaxMs = 4 * hourMs;
const retryAfterMaxMs = 24 * hourMs;

/** No attempt waits longer, so no stored time of the next attempt can be further ahead. */
export const retryDelayMaxMs = Math.max(delayMaxMs, retryAfterMaxMs);

/** A webhook whose attempts have failed for this long is paused. */
export const failingMaxMs = 72 * hourMs;

/**
 * The time until the next attempt: full jitter below a bound that doubles with every failure, but
 * not before the receiver wants it. `random` returns a number from 0 to less than 1.
 */
export function retryDelayMs(
  failures: number,
  retryAfterMs: number | null,
  random: () => number,
): number {
  const bound = Math.min(delayMaxMs, firstDelayMs * 2 ** (failures - 1));
  const asked = Math.min(retryAfterMs ?? 0, retryAfterMaxMs);
  return Math.ceil(Math.max(random() * bound, asked));
}
