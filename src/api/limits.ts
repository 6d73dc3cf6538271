import type { Verdict } from "../domain/limits.ts";
import type { Answer } from "./call.ts";
import { errorAnswer } from "./errors.ts";
import { secondsUntil } from "./headers.ts";

/** The 429: when to come back, in whole seconds, never zero. */
export function denial(verdict: Verdict): Answer {
  const seconds = Math.max(1, secondsUntil(verdict.binding.resetAt, verdict.now));
  const headers = { "Retry-After": String(seconds) };
  return verdict.outcome === "banned"
    ? errorAnswer(
        "key_banned",
        `This API key is banned for a while because it kept asking after 429; wait ${seconds} s.`,
        headers,
      )
    : errorAnswer(
        "rate_limit_exceeded",
        `The limit of ${verdict.binding.limit} requests is used up; wait ${seconds} s.`,
        headers,
      );
}
