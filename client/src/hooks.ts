import type { PetstoreError } from "./errors.js";
import type { RawResponse } from "./response.js";
import type { Operation } from "./types.js";

/** One attempt of a call. */
export interface Attempt {
  readonly operation: Operation;
  readonly method: string;
  readonly url: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
}

export interface RequestEvent extends Attempt {
  /**
   * The headers from your options. You can add and change headers here. The client adds its own
   * headers afterwards, so this object never contains the API key.
   */
  readonly headers: Headers;
}

export interface ResponseEvent extends Attempt {
  readonly response: RawResponse;
  /** The time from sending the request to the last byte of the response. */
  readonly durationMs: number;
}

export interface RetryEvent extends Attempt {
  /** The error of the failed attempt. */
  readonly error: PetstoreError;
  /** The delay before the client queues the next attempt. */
  readonly delayMs: number;
}

/** Reports that the service marked an operation as deprecated. */
export interface DeprecationNotice {
  readonly operation: Operation;
  /** The date of the deprecation, if the service sent it. */
  readonly since: Date | undefined;
  /** The date on which the operation stops working, if the service sent it. */
  readonly sunset: Date | undefined;
  /** The notice as text, for logging. */
  readonly message: string;
}

/**
 * Functions that the client calls while it handles a call. They run synchronously, and their return
 * values are ignored. If a hook throws, the call rejects with that error and is not retried.
 */
export interface Hooks {
  /** Called before each attempt. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /**
   * Called after each complete response, with any status. For a watch, called when a connection is
   * open; the `text` of the response is empty then.
   */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Called before the delay that precedes a retry. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Called once for each deprecated operation, instead of a warning on the console. */
  readonly onDeprecation?: ((notice: DeprecationNotice) => void) | undefined;
}
