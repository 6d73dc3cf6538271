export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
  /** Uniform in [0, 1), as Math.random. */
  readonly random: () => number;
}

/**
 * The pause after the attempt of that number (from 1): full jitter, anywhere between nothing and
 * a bound that doubles, so that clients which failed together do not come back together. What the
 * service asked for in `Retry-After` is waited first and the jitter comes on top: never earlier.
 */
export function pauseMs(backoff: Backoff, attempt: number, retryAfterMs: number): number {
  const boundMs = Math.min(backoff.capMs, backoff.baseMs * 2 ** (attempt - 1));
  return retryAfterMs + backoff.random() * boundMs;
}
