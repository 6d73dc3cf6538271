import type { Clock } from "./clock.js";
import { systemClock } from "./clock.js";

/** How long and how often a call tries. Given to a client, and to single calls. */
export interface Budget {
  /** Milliseconds that one attempt may take, to the last byte of its answer. 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts at most, the first included. 5. */
  readonly attemptsMax?: number | undefined;
  /**
   * Milliseconds from the start of a call after which no further attempt begins. Waiting for the
   * limit's next window counts. 300,000, enough for a burst of a few windows to drain.
   */
  readonly retryForMs?: number | undefined;
}

export interface CallOptions extends Budget {
  /** Ends the call, wherever it stands, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ClientOptions extends Budget {
  /** The base address of the environment, which ends in `/v1`. */
  readonly baseUrl: string | URL;
  /** The API key, sent as the bearer credential. */
  readonly apiKey: string;
  /** Requests on their way at the same time, at most. 16. */
  readonly parallelMax?: number | undefined;
  /** The bound of the pause after the first failed attempt; it doubles with each further. 250. */
  readonly backoffBaseMs?: number | undefined;
  /** Where that doubling ends. 20,000. */
  readonly backoffCapMs?: number | undefined;
  /** The function to send with; the platform's own unless given. It must heed `init.signal`. */
  readonly fetch?: Fetch | undefined;
  /** The clock to wait by; the system's unless given. */
  readonly clock?: Clock | undefined;
  /** The source of jitter, uniform in [0, 1); Math.random unless given. */
  readonly random?: (() => number) | undefined;
}

/** The options with every default filled in, checked. */
export interface Settings {
  readonly baseUrl: string;
  readonly authorization: string;
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  readonly retryForMs: number;
  readonly parallelMax: number;
  readonly backoff: {
    readonly baseMs: number;
    readonly capMs: number;
    readonly random: () => number;
  };
  readonly fetch: Fetch;
  readonly clock: Clock;
}

export function settle(options: ClientOptions): Settings {
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    authorization: `Bearer ${readApiKey(options.apiKey)}`,
    ...settleBudget(options, { timeoutMs: 30_000, attemptsMax: 5, retryForMs: 300_000 }),
    parallelMax: atLeast(1, "parallelMax", options.parallelMax ?? 16),
    backoff: {
      baseMs: atLeast(0, "backoffBaseMs", options.backoffBaseMs ?? 250),
      capMs: atLeast(0, "backoffCapMs", options.backoffCapMs ?? 20_000),
      random: options.random ?? Math.random,
    },
    // Looked up at each call and called as a method: browsers refuse a detached fetch.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    clock: options.clock ?? systemClock,
  };
}

export type SettledBudget = Pick<Settings, "timeoutMs" | "attemptsMax" | "retryForMs">;

export function settleBudget(budget: Budget, fallback: SettledBudget): SettledBudget {
  return {
    timeoutMs: atLeast(1, "timeoutMs", budget.timeoutMs ?? fallback.timeoutMs),
    attemptsMax: atLeast(1, "attemptsMax", budget.attemptsMax ?? fallback.attemptsMax),
    retryForMs: atLeast(0, "retryForMs", budget.retryForMs ?? fallback.retryForMs),
  };
}

function readBaseUrl(value: string | URL): string {
  const url = new URL(value);
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) {
    throw new TypeError(
      "baseUrl must be an http(s) address without query, fragment or credentials",
    );
  }
  return url.href.replace(/\/+$/, "");
}

// Checked here because a platform that refuses a header value shows it in its message.
function readApiKey(value: string): string {
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return value;
  throw new TypeError("apiKey must be a non-empty string of visible ASCII characters");
}

function atLeast(min: number, name: string, value: number): number {
  if (value >= min) return value;
  throw new RangeError(`${name} must be a number of at least ${min}`);
}
