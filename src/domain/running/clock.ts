/** A value, or a promise of it. An embedded engine returns values, which keeps requests fast. */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with a value at once, or when its promise resolves. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => U): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

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
