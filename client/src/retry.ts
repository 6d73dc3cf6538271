import { onAbort } from "./abort.js";
import { currentApiKey } from "./api-key.js";
import { attemptOnce } from "./attempt.js";
import { retryDelayMs } from "./backoff.js";
import { type AttemptPlan, type Call, eventOf, type Transport } from "./call.js";
import type { PetstoreError } from "./errors.js";
import { withHeaders } from "./headers.js";
import type { CallOptions } from "./options.js";
import type { RawResponse } from "./response.js";
import { resolveBudget } from "./settings.js";

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
    return await attemptUntilDone(transport, call, options, stop.signal);
  } finally {
    removeCallback?.();
  }
}

async function attemptUntilDone(
  transport: Transport,
  call: Call,
  options: CallOptions,
  signal: AbortSignal,
): Promise<RawResponse> {
  const { apiKey, baseUrl, clock, backoff } = transport.settings;
  const { timeoutMs, attemptsMax, retryForMs } = resolveBudget(options, transport.settings);
  const headers = withHeaders(transport.settings.headers, options.headers);
  const url = baseUrl + call.path;
  const deadlineMs = clock.now() + retryForMs;
  const readKey = () => currentApiKey(apiKey, clock, timeoutMs, signal);
  let key = await readKey();
  let hasNewKey = false;
  for (let attempt = 1; ; attempt++) {
    const permit = await transport.queue.waitForPermit(deadlineMs, signal);
    const plan = { call, url, headers, key, attempt, timeoutMs, permit, signal };
    const outcome = await attemptOnce(transport, plan);
    if (!("error" in outcome)) return outcome;
    const { error, retryAfterMs } = outcome;
    if (attempt >= attemptsMax) throw error;
    // The service rejected the key before it changed anything, so a retry with a new key is safe.
    if (isUnauthorized(error) && !hasNewKey) {
      const newKey = await readKey();
      if (newKey === key || clock.now() > deadlineMs) throw error;
      reportRetry(transport, plan, error, 0);
      key = newKey;
      hasNewKey = true;
      continue;
    }
    const delayMs = retryDelayMs(backoff, attempt, retryAfterMs);
    if (!isRetryable(error) || clock.now() + delayMs > deadlineMs) throw error;
    reportRetry(transport, plan, error, delayMs);
    await clock.sleep(delayMs, signal);
    signal.throwIfAborted();
    key = await readKey();
  }
}

function reportRetry(
  { settings }: Transport,
  plan: AttemptPlan,
  error: PetstoreError,
  delayMs: number,
): void {
  settings.hooks.onRetry?.({ ...eventOf(plan), error, delayMs });
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
