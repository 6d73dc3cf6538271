import { resultOf } from "./attempts.ts";
import type { WebhookAnswer } from "./sender.ts";
import type { Delivered } from "./store.ts";

/** When a failed delivery is tried again. Times in milliseconds. */

const hourMs = 3_600_000;
const firstDelayMs = 5_000;
const delayMaxMs = 4 * hourMs;
const retryAfterMaxMs = 24 * hourMs;

/** No attempt waits longer, so no stored time of the next attempt can be further ahead. */
export const retryDelayMaxMs = Math.max(delayMaxMs, retryAfterMaxMs);

/** A webhook whose attempts have failed for this long is paused. */
const failingMaxMs = 72 * hourMs;

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

/** Whether this failure ends the deliveries until an operator resumes them. */
export function endingOf(
  answer: WebhookAnswer,
  failingSince: number,
  now: number,
): Delivered["ended"] {
  if (answer.status === 410) return { state: "disabled", reason: "the receiver returned 410" };
  if (now - failingSince < failingMaxMs) return undefined;
  const since = new Date(failingSince).toISOString();
  const reason = `every attempt has failed since ${since}, the last one with: ${resultOf(answer)}`;
  return { state: "paused", reason };
}
