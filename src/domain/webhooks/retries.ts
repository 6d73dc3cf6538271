import { hourMs } from "../values/times.ts";
import type { WebhookAnswer } from "./sender.ts";
import type { Delivered } from "./store.ts";
import { resultOf, type WebhookProgress } from "./webhook.ts";

/** When a failed delivery is tried again. Times in milliseconds. */

const firstDelayMs = 5_000;
const delayMaxMs = 4 * hourMs;
const retryAfterMaxMs = 24 * hourMs;

/** The longest delay. A stored time that is further ahead is wrong. */
export const retryDelayMaxMs = Math.max(delayMaxMs, retryAfterMaxMs);

/** An attempt that is later than this was not made when it was due. */
const overdueMsMax = 60_000;

/** A webhook whose attempts have failed for this long is paused. */
const failingMaxMs = 72 * hourMs;

/**
 * The time until the next attempt: random, below a bound that doubles with every failure, and at
 * least as long as the receiver asks for. `random` returns a number from 0 to less than 1.
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

/**
 * Since when attempts have failed, after one that fails now. Time in which no attempt was due does not count:
 * the service was stopped, or its clock has jumped.
 */
export function failingSinceAt(
  { failingSince, nextAttemptAt }: Pick<WebhookProgress, "failingSince" | "nextAttemptAt">,
  now: number,
): number {
  if (failingSince === null) return now;
  const overdueMs = nextAttemptAt === 0 ? 0 : Math.max(0, now - nextAttemptAt - overdueMsMax);
  return Math.min(failingSince + overdueMs, now);
}

/** The state in which this failure ends the deliveries. Undefined if they go on. */
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
