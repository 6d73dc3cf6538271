/**
 * The rate limit of the API key, as of the last response. If the key has several windows, this is the
 * one that runs out first.
 */
export interface Limits {
  /** Requests allowed per window. */
  readonly limit: number;
  /** Requests left in the window. */
  readonly remaining: number;
  /** The end of the window, according to the service's clock. */
  readonly resetsAt: Date;
}

/** What one response reports about the rate limit. */
export interface LimitUpdate extends Limits {
  /** The time from the arrival of the response to the end of the window. Never too short. */
  readonly endsInMs: number;
}

/** Reads the rate limit headers. Returns undefined if one is missing, as on a proxy's error page. */
export function readLimitUpdate(headers: Headers, nowMs: number): LimitUpdate | undefined {
  const limit = readCount(headers, "x-ratelimit-limit");
  const remaining = readCount(headers, "x-ratelimit-remaining");
  const resetSeconds = readCount(headers, "x-ratelimit-reset");
  if (limit === undefined || remaining === undefined || resetSeconds === undefined)
    return undefined;
  return {
    limit,
    remaining,
    resetsAt: new Date(resetSeconds * 1000),
    endsInMs: readEndsInMs(headers, remaining, resetSeconds * 1000, nowMs),
  };
}

/**
 * Reads the time until the window ends. The clocks of client and service may differ, so durations are
 * preferred: first the `t` of the `RateLimit` header, then the reset time minus the response's `Date`.
 * The local clock is the last resort: a browser hides both headers unless the service exposes them.
 */
function readEndsInMs(headers: Headers, remaining: number, resetMs: number, nowMs: number): number {
  const seconds = readSecondsToReset(headers.get("ratelimit") ?? "", remaining);
  if (seconds !== undefined) return seconds * 1000;
  return resetMs - readDateMs(headers, nowMs);
}

/**
 * Finds the window of `X-RateLimit-Remaining` in a `RateLimit` header: the one with the same number
 * of remaining requests. If there are several, the last to end counts.
 */
function readSecondsToReset(field: string, remaining: number): number | undefined {
  let seconds: number | undefined;
  for (const item of field.split(",")) {
    const left = /;\s*r=(\d+)/.exec(item)?.[1];
    const time = /;\s*t=(\d+)/.exec(item)?.[1];
    if (left === undefined || time === undefined || Number(left) !== remaining) continue;
    seconds = Math.max(seconds ?? 0, Number(time));
  }
  return seconds;
}

/** Reads `Retry-After` in seconds. Supports both forms, a number and an HTTP date. */
export function readRetryAfterSeconds(headers: Headers, nowMs: number): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = Math.ceil((Date.parse(value) - readDateMs(headers, nowMs)) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function readDateMs(headers: Headers, nowMs: number): number {
  const dateMs = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(dateMs) ? nowMs : dateMs;
}

function readCount(headers: Headers, name: string): number | undefined {
  const value = headers.get(name);
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
