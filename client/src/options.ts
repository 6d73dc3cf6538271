import type { Clock } from "./clock.js";
import type { Hooks } from "./hooks.js";

/** Timeouts and retries. Set them on the client, or override them for a single call. */
export interface Budget {
  /** Timeout of one attempt in milliseconds, up to the last byte of the response. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of attempts per call, including the first. Default: 5. */
  readonly attemptsMax?: number | undefined;
  /**
   * Time in milliseconds after which a call starts no new attempt. Waiting for the rate limit counts.
   * Default: 300,000, which covers several one-minute windows.
   */
  readonly retryForMs?: number | undefined;
}

/** Header names and values. In the options of a call, `undefined` removes a header of the client. */
export type HeaderOptions = Readonly<Record<string, string | undefined>>;

export interface CallOptions extends Budget {
  /** Cancels the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Headers for this call, added to the headers of the client. */
  readonly headers?: HeaderOptions | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * Identifies this write to the service, instead of a random key. 1 to 255 printable ASCII
   * characters. If your program repeats the write with the same key, for example after a crash, the
   * service applies it only once.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface AdjustOptions extends WriteOptions {
  /** The reason for the change, shown in its history. At most 200 characters. */
  readonly reason?: string | undefined;
  /** How often to read, compute and write before the call rejects with a conflict. Default: 10. */
  readonly roundsMax?: number | undefined;
}

export interface UpdateOptions extends WriteOptions {
  /**
   * The version that the entry must have: the `etag` of an entry, or several. Otherwise the call
   * rejects with a ConflictError. `"*"` accepts any version.
   */
  readonly ifMatch?: string | readonly string[];
  /** The reason for the change, shown in its history. At most 200 characters. */
  readonly reason?: string | undefined;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** An API key, or a function that returns the current one. It is called before each attempt. */
export type ApiKey = string | (() => string | Promise<string>);

export interface ClientOptions extends Budget {
  /** The base URL of the service. Must end in `/v1`. */
  readonly baseUrl: string | URL;
  /** The API key, sent as a bearer token. Pass a function if the key can change. */
  readonly apiKey: ApiKey;
  /** Headers for every request. Headers that the client sets itself are not allowed. */
  readonly headers?: HeaderOptions | undefined;
  /** Functions that the client calls on requests, responses, retries and deprecations. */
  readonly hooks?: Hooks | undefined;
  /** Maximum number of requests in flight. Default: 16. */
  readonly parallelMax?: number | undefined;
  /** Upper bound of the first retry delay. It doubles with every attempt. Default: 250. */
  readonly backoffBaseMs?: number | undefined;
  /** Largest upper bound of a retry delay. Default: 20,000. */
  readonly backoffCapMs?: number | undefined;
  /** The function that sends requests. Must support `init.signal`. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** The clock for all waiting. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Random numbers for jitter, uniform in [0, 1). Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}
