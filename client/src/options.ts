import type { Clock } from "./clock.js";
import type { Hooks } from "./hooks.js";

/** How long and how often a call tries. Set it on the client, and differently on single calls. */
export interface Budget {
  /** Milliseconds that one attempt may take, to the last byte of its response. 30,000. */
  readonly timeoutMs?: number | undefined;
  /** The most attempts a call makes, the first included. 5. */
  readonly attemptsMax?: number | undefined;
  /**
   * Milliseconds from the start of a call after which no further attempt begins. Time spent
   * waiting for the limit's next window counts. 300,000, enough for a few windows.
   */
  readonly retryForMs?: number | undefined;
}

/** Header names and values. `undefined` on a call removes the client's default header. */
export type HeaderOptions = Readonly<Record<string, string | undefined>>;

export interface CallOptions extends Budget {
  /** Ends the call, wherever it is, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Sent with every attempt of this call, on top of the client's own. */
  readonly headers?: HeaderOptions | undefined;
}

export interface UpdateOptions extends CallOptions {
  /**
   * Names this update for the service, in place of a random key: 1 to 255 printable ASCII
   * characters. Use the same key when your program repeats the same update.
   */
  readonly idempotencyKey?: string | undefined;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A key, or a function that gives the current one. The function is called before each attempt. */
export type ApiKey = string | (() => string | Promise<string>);

export interface ClientOptions extends Budget {
  /** The base address of the environment, which ends in `/v1`. */
  readonly baseUrl: string | URL;
  /** The API key, sent as the bearer credential. Pass a function if the key can change. */
  readonly apiKey: ApiKey;
  /** Sent with every request. Names that the client sets itself are refused. */
  readonly headers?: HeaderOptions | undefined;
  /** Functions that the client calls on requests, responses, retries and deprecations. */
  readonly hooks?: Hooks | undefined;
  /** The most requests on their way at the same time. 16. */
  readonly parallelMax?: number | undefined;
  /** The longest pause after the first failed attempt; it doubles with each further one. 250. */
  readonly backoffBaseMs?: number | undefined;
  /** Where that doubling ends. 20,000. */
  readonly backoffCapMs?: number | undefined;
  /** The function that sends; the platform's own by default. It must obey `init.signal`. */
  readonly fetch?: Fetch | undefined;
  /** The clock to wait by; the system's by default. */
  readonly clock?: Clock | undefined;
  /** The source of jitter, uniform in [0, 1); Math.random by default. */
  readonly random?: (() => number) | undefined;
}
