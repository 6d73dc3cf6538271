import { onAbort } from "./abort.js";
import { currentApiKey } from "./api-key.js";
import { attemptOnce } from "./attempt.js";
import { retryDelayMs } from "./backoff.js";
import { type AttemptPlan, type Call, eventOf, type Failure, type Transport } from "./call.js";
import type { PetstoreError } from "./errors.js";
import { withHeaders } from "./headers.js";
import type { CallOptions } from "./options.js";
import type { RawResponse } from "./response.js";
import { type ResolvedBudget, resolveBudget } from "./settings.js";

/**
 * Sends a request until an attempt succeeds. Throws when an error is final, the attempts or the time
 * are used up, or the caller aborts.
 */
export async function sendWithRetries(
  transport: Transport,
  call: Call,
  options: CallOptions,
): Promise<RawResponse> {
  const { signal } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const removeCallback = signal && onAbort(signal, () => stop.abort(signal.reason));
  try {
    const budget = resolveBudget(options, transport.settings);
    const headers = withHeaders(transport.settings.headers, options.headers);
    const attempts = new Attempts(transport, budget, headers, stop.signal);
    for (;;) {
      const plan = await attempts.next(call);
      const outcome = await attemptOnce(transport, plan);
      if (!("error" in outcome)) return outcome;
      await attempts.waitAfter(plan, outcome);
    }
  } finally {
    removeCallback?.();
  }
}

/** Plans the attempts of a call: their number, their time, their key and the delays between them. */
export class Attempts {
  readonly #transport: Transport;
  readonly #budget: ResolvedBudget;
  readonly #headers: Headers;
  readonly #signal: AbortSignal;
  #attempt = 0;
  #deadlineMs: number;
  #key: string | undefined;
  #hasNewKey = false;

  constructor(transport: Transport, budget: ResolvedBudget, headers: Headers, signal: AbortSignal) {
    this.#transport = transport;
    this.#budget = budget;
    this.#headers = headers;
    this.#signal = signal;
    this.#deadlineMs = transport.settings.clock.now() + budget.retryForMs;
  }

  /** Waits until the next attempt may be sent. */
  async next(call: Call): Promise<AttemptPlan> {
    const { settings, queue } = this.#transport;
    const key = this.#key ?? (await this.#readKey());
    this.#key = key;
    const permit = await queue.waitForPermit(this.#deadlineMs, this.#signal);
    return {
      call,
      url: settings.baseUrl + call.path,
      headers: this.#headers,
      key,
      attempt: ++this.#attempt,
      timeoutMs: this.#budget.timeoutMs,
      permit,
      signal: this.#signal,
    };
  }

  /** Waits before the next attempt. Throws the error of the failed one if it is final. */
  async waitAfter(plan: AttemptPlan, { error, retryAfterMs }: Failure): Promise<void> {
    const { clock, backoff } = this.#transport.settings;
    if (this.#attempt >= this.#budget.attemptsMax) throw error;
    // The service rejected the key before it changed anything, so a retry with a new key is safe.
    if (isUnauthorized(error) && !this.#hasNewKey) {
      const newKey = await this.#readKey();
      if (newKey === plan.key || clock.now() > this.#deadlineMs) throw error;
      this.#reportRetry(plan, error, 0);
      this.#key = newKey;
      this.#hasNewKey = true;
      return;
    }
    const delayMs = retryDelayMs(backoff, this.#attempt, retryAfterMs);
    if (!isRetryable(error) || clock.now() + delayMs > this.#deadlineMs) throw error;
    this.#reportRetry(plan, error, delayMs);
    await clock.sleep(delayMs, this.#signal);
    this.#signal.throwIfAborted();
    this.#key = await this.#readKey();
  }

  /** Counts attempts and time anew. Call this when a connection that worked is lost. */
  restart(): void {
    this.#attempt = 1;
    this.#hasNewKey = false;
    this.#deadlineMs = this.#transport.settings.clock.now() + this.#budget.retryForMs;
  }

  #readKey(): Promise<string> {
    const { apiKey, clock } = this.#transport.settings;
    return currentApiKey(apiKey, clock, this.#budget.timeoutMs, this.#signal);
  }

  #reportRetry(plan: AttemptPlan, error: PetstoreError, delayMs: number): void {
    this.#transport.settings.hooks.onRetry?.({ ...eventOf(plan), error, delayMs });
  }
}

function isUnauthorized(error: PetstoreError): boolean {
  return error.kind === "api" && error.status === 401;
}

/** Statuses that ask the client to retry later, or with which a proxy reports a missing response. */
const retryableStatuses: readonly number[] = [429, 502, 503, 504];

/**
 * True for every error after which the request may succeed. Writes are no exception: all attempts of
 * a call have the same `Idempotency-Key`, so the service applies a write only once.
 */
function isRetryable(error: PetstoreError): boolean {
  return error.kind !== "api" || retryableStatuses.includes(error.status);
}
