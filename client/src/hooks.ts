import type { PetstoreError } from "./errors.js";
import type { RawResponse } from "./response.js";

/** The operations of the service, by their ids in its API description. */
export type Operation = "listInventory" | "updateInventory" | "getPet" | "listOrders";

/** One attempt of one call. */
export interface Attempt {
  readonly operation: Operation;
  readonly method: string;
  readonly url: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
}

export interface RequestEvent extends Attempt {
  /**
   * The headers of your options. What you add or change here is sent. The client adds its own
   * afterwards, the key among them, so that a hook that logs this never logs the key.
   */
  readonly headers: Headers;
}

export interface ResponseEvent extends Attempt {
  readonly response: RawResponse;
  /** From sending the request to the last byte of the response. */
  readonly durationMs: number;
}

export interface RetryEvent extends Attempt {
  /** Why the attempt failed. */
  readonly error: PetstoreError;
  /** How long the client rests before it queues the next attempt. */
  readonly delayMs: number;
}

/** The service says that an operation is deprecated. */
export interface DeprecationNotice {
  readonly operation: Operation;
  /** Since when, where the service says so. */
  readonly since: Date | undefined;
  /** When the operation stops working, where the service says so. */
  readonly sunset: Date | undefined;
  /** All of it in one sentence. */
  readonly message: string;
}

/**
 * Functions the client calls while it works. They run synchronously and what they return is
 * ignored. A call whose hook throws is rejected with what the hook threw, and not tried again.
 */
export interface Hooks {
  /** Before each attempt is sent. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** After each complete response, whatever its status. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Before each pause that precedes a further attempt. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Once for each deprecated operation, in place of the warning on the console. */
  readonly onDeprecation?: ((notice: DeprecationNotice) => void) | undefined;
}
