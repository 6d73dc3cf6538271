import type { Verdict } from "../domain/limits.ts";

/**
 * Headers ready to be sent, made once and stamped for every answer. Bun copies a Headers object
 * into a response three times as fast as it reads an object literal of the same size, and setting
 * a value costs as much as building it, so what did not change since the last answer stays.
 *
 * A sheet is stamped and copied into its response without a pause in between, and every stamp sets
 * everything that depends on the request, so that nothing of one answer can show in another.
 */
export interface Sheet {
  readonly headers: Headers;
  limit: number;
  resetAt: number;
  perMinute: number;
  perDay: number | undefined;
}

export function createSheet(fixed: Readonly<Record<string, string>>): Sheet {
  return { headers: new Headers(fixed), limit: -1, resetAt: -1, perMinute: -1, perDay: -1 };
}

/** Puts in what every answer carries: the limits, three ways, and the request's id. */
export function stamp(sheet: Sheet, verdict: Verdict, requestId: string): Headers {
  const { headers } = sheet;
  const { binding, minute, day, now } = verdict;
  if (binding.limit !== sheet.limit) {
    sheet.limit = binding.limit;
    headers.set("X-RateLimit-Limit", `${binding.limit}`);
  }
  if (binding.resetAt !== sheet.resetAt) {
    sheet.resetAt = binding.resetAt;
    headers.set("X-RateLimit-Reset", `${Math.ceil(binding.resetAt / 1000)}`);
  }
  headers.set("X-RateLimit-Remaining", `${binding.remaining}`);
  if (minute.limit !== sheet.perMinute || day?.limit !== sheet.perDay) {
    sheet.perMinute = minute.limit;
    sheet.perDay = day?.limit;
    const perDay = day ? `, "day";q=${day.limit};w=86400` : "";
    headers.set("RateLimit-Policy", `"minute";q=${minute.limit};w=60${perDay}`);
  }
  let state = `"minute";r=${minute.remaining};t=${secondsUntil(minute.resetAt, now)}`;
  if (day) state += `, "day";r=${day.remaining};t=${secondsUntil(day.resetAt, now)}`;
  headers.set("RateLimit", state);
  headers.set("X-Request-Id", requestId);
  return headers;
}

export function secondsUntil(time: number, now: number): number {
  return Math.ceil((time - now) / 1000);
}
