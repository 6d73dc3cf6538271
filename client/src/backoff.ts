export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
  /** Uniform in [0, 1), like Math.random. */
  readonly random: () => number;
}

/**
 * The delay after an attempt, where the first attempt has number 1. Uses full jitter: a random delay
 * between 0 and a bound that doubles, so that clients that fail together do not retry together. The
 * jitter is added to `Retry-After`, so a retry never comes early.
 */
export function retryDelayMs(backoff: Backoff, attempt: number, retryAfterMs: number): number {
  const boundMs = Math.min(backoff.capMs, backoff.baseMs * 2 ** (attempt - 1));
  return retryAfterMs + backoff.random() * boundMs;
}
