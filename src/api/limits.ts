import type { Verdict } from "../domain/limits.ts";
import type { Answer } from "./call.ts";
import { errorAnswer } from "./errors.ts";

/** The three headers every answer carries, and the IETF's two that show both windows. */
export function limitHeaders(verdict: Verdict): Record<string, string> {
  const { binding, minute, day, now } = verdict;
  let policy = `"minute";q=${minute.limit};w=60`;
  let state = `"minute";r=${minute.remaining};t=${secondsUntil(minute.resetAt, now)}`;
  if (day) {
    policy += `, "day";q=${day.limit};w=86400`;
    state += `, "day";r=${day.remaining};t=${secondsUntil(day.resetAt, now)}`;
  }
  return {
    "X-RateLimit-Limit": String(binding.limit),
    "X-RateLimit-Remaining": String(binding.remaining),
    "X-RateLimit-Reset": String(Math.ceil(binding.resetAt / 1000)),
    "RateLimit-Policy": policy,
    RateLimit: state,
  };
}

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

function secondsUntil(time: number, now: number): number {
  return Math.ceil((time - now) / 1000);
}
