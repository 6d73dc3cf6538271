import type { LimitDecision } from "../../domain/limits/limits.ts";
import { formatInstant } from "../../domain/values/times.ts";
import { addressLimitExceeded, keyBanned, rateLimitExceeded } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import { secondsUntil } from "../messages/headers.ts";
import type { Reply } from "../messages/reply.ts";

/** Limits requests by client address. */
export interface AddressLimiter {
  take(address: string): LimitDecision;
  /** The state of an address. Counts nothing. */
  peek(address: string): LimitDecision;
}

/** The 429. `Retry-After` is in whole seconds and at least 1. */
export function rateLimitError(decision: LimitDecision): Reply {
  const { outcome, binding, day, now } = decision;
  const seconds = Math.max(1, secondsUntil(binding.resetAt, now));
  const headers = { "Retry-After": String(seconds) };
  const resetsAt = formatInstant(binding.resetAt);
  if (outcome === "banned") {
    return errorReply("key_banned", keyBanned(resetsAt, seconds), headers);
  }
  const message =
    day === null
      ? addressLimitExceeded(binding.limit, resetsAt, seconds)
      : rateLimitExceeded(binding.limit, binding === day ? "day" : "minute", resetsAt, seconds);
  return errorReply("rate_limit_exceeded", message, headers);
}
