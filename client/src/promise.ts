import type { RawResponse } from "./response.js";

export interface WithResponse<T> {
  readonly value: T;
  /** The response of the attempt that succeeded. */
  readonly response: RawResponse;
}

/** A promise of a call's value that can also give the response the value came from. */
export interface ApiPromise<T> extends Promise<T> {
  withResponse(): Promise<WithResponse<T>>;
}

export function apiPromise<T>(outcome: Promise<WithResponse<T>>): ApiPromise<T> {
  const value = outcome.then((result) => result.value);
  const withResponse = () => {
    // The caller waits for the other promise now; this one must not count as unhandled.
    value.catch(() => {});
    return outcome;
  };
  return Object.assign(value, { withResponse });
}
