import type { RawResponse } from "./response.js";

export interface WithResponse<T> {
  readonly value: T;
  /** The response of the successful attempt. */
  readonly response: RawResponse;
}

/** The promise that a method returns. */
export interface ApiPromise<T> extends Promise<T> {
  /** Returns the value together with its HTTP response. */
  withResponse(): Promise<WithResponse<T>>;
}

export function apiPromise<T>(outcome: Promise<WithResponse<T>>): ApiPromise<T> {
  const value = outcome.then((result) => result.value);
  const withResponse = () => {
    // The caller now handles `outcome`, so a rejection of `value` must not count as unhandled.
    value.catch(() => {});
    return outcome;
  };
  return Object.assign(value, { withResponse });
}
