import { ServiceError } from "./errors.ts";

/**
 * Whether commits are too slow for their callers. That begins when a commit fails after more than a
 * second, and ends when one takes less, or when none was under way for five seconds: a service that is
 * not ready gets no updates from a load balancer, and would never learn that the disk is fast again.
 */
export interface Slowness {
  readonly isTooSlow: boolean;
  /** A commit begins. */
  begun(): void;
  /** A commit has ended. `error` is set if its callers got one. */
  ended(durationMs: number, error?: unknown): void;
}

/** A commit that takes longer is slow. */
export const slowCommitMs = 1_000;

const retryMs = 5_000;

export function createSlowness(): Slowness {
  let tooSlowUntil = 0;
  const isTooSlow = () => performance.now() < tooSlowUntil;
  return {
    get isTooSlow() {
      return isTooSlow();
    },
    begun() {
      if (isTooSlow()) tooSlowUntil = Number.POSITIVE_INFINITY;
    },
    ended(durationMs, error) {
      if (durationMs <= slowCommitMs) tooSlowUntil = 0;
      else if (isFailure(error) || isTooSlow()) tooSlowUntil = performance.now() + retryMs;
    },
  };
}

/** A lock that was not free in time, for example during an import, does not mean that the store is slow. */
function isFailure(error: unknown): boolean {
  const isBusy = error instanceof ServiceError && error.reason === "busy";
  return error !== undefined && !isBusy;
}
