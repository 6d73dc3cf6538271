import type { Verdict } from "../domain/limits.ts";
import { formatInstant } from "../domain/values/instants.ts";
import type { Answer } from "./call.ts";
import { errorAnswer } from "./errors.ts";
import { secondsUntil } from "./headers.ts";

/** The 429: what is used up and when to come back, in whole seconds, never zero. */
export function denial(verdict: Verdict): Answer {
  const { binding, now } = verdict;
  const seconds = Math.max(1, secondsUntil(binding.resetAt, now));
  const headers = { "Retry-After": String(seconds) };
  const until = formatInstant(binding.resetAt);
  return verdict.outcome === "banned"
    ? errorAnswer(
        "key_banned",
        `This API key is banned until ${until} because it kept sending requests after 429. Wait ${seconds} s.`,
        headers,
      )
    : errorAnswer(
        "rate_limit_exceeded",
        `${usedUp(verdict)} It resets at ${until}, in ${seconds} s.`,
        headers,
      );
}

function usedUp({ binding, day }: Verdict): string {
  const count = binding.limit === 1 ? "1 request" : `${binding.limit} requests`;
  if (day === null) {
    return `The limit of ${count} per minute without a valid API key is used up for this address.`;
  }
  return `The limit of ${count} per ${binding === day ? "day" : "minute"} is used up.`;
}
