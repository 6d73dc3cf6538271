import type { LimitDecision } from "../../domain/limits/limits.ts";

/**
 * Response headers that are built once and reused. Bun copies a Headers object into a response three
 * times as fast as it reads an object literal of the same size. Setting a value costs as much as
 * building one, so values that are the same as in the last response are not set again.
 *
 * A template is filled and copied into its response without a pause in between, and filling it sets
 * every value that depends on the request. So no response can show values of another.
 */
export interface HeaderTemplate {
  readonly headers: Headers;
  limit: number;
  resetAt: number;
  perMinute: number;
  perDay: number | undefined;
}

export function createTemplate(fixed: Readonly<Record<string, string>>): HeaderTemplate {
  return { headers: new Headers(fixed), limit: -1, resetAt: -1, perMinute: -1, perDay: -1 };
}

/**
 * Sets the headers that differ between requests: the rate limits, the request id and the ETag. A
 * template is used either always with an ETag or always without.
 */
export function fillTemplate(
  template: HeaderTemplate,
  decision: LimitDecision,
  requestId: string,
  etag?: string,
): Headers {
  const { headers } = template;
  const { binding, minute, day, now } = decision;
  if (binding.limit !== template.limit) {
    template.limit = binding.limit;
    headers.set("X-RateLimit-Limit", `${binding.limit}`);
  }
  if (binding.resetAt !== template.resetAt) {
    template.resetAt = binding.resetAt;
    headers.set("X-RateLimit-Reset", `${Math.ceil(binding.resetAt / 1000)}`);
  }
  headers.set("X-RateLimit-Remaining", `${binding.remaining}`);
  if (minute.limit !== template.perMinute || day?.limit !== template.perDay) {
    template.perMinute = minute.limit;
    template.perDay = day?.limit;
    const perDay = day ? `, "day";q=${day.limit};w=86400` : "";
    headers.set("RateLimit-Policy", `"minute";q=${minute.limit};w=60${perDay}`);
  }
  let state = `"minute";r=${minute.remaining};t=${secondsUntil(minute.resetAt, now)}`;
  if (day) state += `, "day";r=${day.remaining};t=${secondsUntil(day.resetAt, now)}`;
  headers.set("RateLimit", state);
  headers.set("X-Request-Id", requestId);
  if (etag !== undefined) headers.set("ETag", etag);
  return headers;
}

export function secondsUntil(time: number, now: number): number {
  return Math.ceil((time - now) / 1000);
}
