/** The limit that binds the key, as the last answer told it. */
export interface Limits {
  /** Requests that the window admits. */
  readonly limit: number;
  /** Requests left in the window. */
  readonly remaining: number;
  /** When the window ends, by the service's clock. */
  readonly resetsAt: Date;
}

/** What an answer teaches about the window that binds the key. */
export interface Lesson extends Limits {
  /** From the answer's arrival to the end of the window; never less than it truly is. */
  readonly endsInMs: number;
}

/** The lesson in an answer's headers; undefined where they are missing, as on a proxy's page. */
export function readLesson(headers: Headers, nowMs: number): Lesson | undefined {
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
 * The two clocks may disagree, so a length of time is taken before a point in time: the `t` of the
 * `RateLimit` field, else the reset against the answer's own `Date`, and against this machine's
 * clock only where neither can be read (a browser hides both unless the service exposes them).
 */
function readEndsInMs(headers: Headers, remaining: number, resetMs: number, nowMs: number): number {
  const seconds = readSecondsToReset(headers.get("ratelimit") ?? "", remaining);
  if (seconds !== undefined) return seconds * 1000;
  return resetMs - readDateMs(headers, nowMs);
}

/** Of the windows in a `RateLimit` field, the binding one is the last to end with that remainder. */
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

/** `Retry-After` in seconds, from either of its two forms: a number, or an HTTP date. */
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
