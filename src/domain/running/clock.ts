/** A value, or a promise of it. An embedded engine returns values, which keeps requests fast. */
export type MaybePromise<T> = T | Promise<T>;

export interface Clock {
  /** Milliseconds since 1970. May jump, also backwards. */
  now(): number;
  /** Milliseconds since any moment. Never jumps. */
  elapsedMs(): number;
}

/** Records where the time of one request goes. Only requests that are traced have one. */
export interface Trace {
  /** Adds a part of the request. The times are those of `performance.now()`. */
  span(name: string, startedMs: number, endedMs: number): void;
}
