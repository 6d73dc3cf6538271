import { onAbort } from "./abort.js";
import { attemptOnce } from "./attempt.js";
import { pauseMs } from "./backoff.js";
import type { Call, Line } from "./call.js";
import { isApiError, type PetstoreError } from "./errors.js";
import { withHeaders } from "./headers.js";
import { currentApiKey } from "./key.js";
import type { CallOptions } from "./options.js";
import type { RawResponse } from "./response.js";
import { settleBudget } from "./settings.js";

/** Sends until an answer succeeds, a refusal is final, the budget is spent, or the caller aborts. */
export async function send(line: Line, call: Call, options: CallOptions): Promise<RawResponse> {
  const { signal } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const unfollow = signal && onAbort(signal, () => stop.abort(signal.reason));
  try {
    return await sendAgain(line, call, options, stop.signal);
  } finally {
    unfollow?.();
  }
}

async function sendAgain(
  line: Line,
  call: Call,
  options: CallOptions,
  signal: AbortSignal,
): Promise<RawResponse> {
  const { apiKey, clock, backoff } = line.settings;
  const { timeoutMs, attemptsMax, retryForMs } = settleBudget(options, line.settings);
  const headers = withHeaders(line.settings.headers, options.headers);
  const deadlineMs = clock.now() + retryForMs;
  const askKey = () => currentApiKey(apiKey, clock, timeoutMs, signal);
  let key = await askKey();
  let isKeyRenewed = false;
  for (let attempt = 1; ; attempt++) {
    const permit = await line.gate.enter(deadlineMs, signal);
    const about = { call, headers, key, attempt, timeoutMs };
    const outcome = await attemptOnce(line, about, permit, signal);
    if (!("error" in outcome)) return outcome;
    const { error, retryAfterMs } = outcome;
    if (attempt >= attemptsMax) throw error;
    if (isKeyRefused(error) && !isKeyRenewed) {
      const renewed = await askKey();
      if (renewed === key || clock.now() > deadlineMs) throw error;
      tellRetry(line, call, attempt, error, 0);
      key = renewed;
      isKeyRenewed = true;
      continue;
    }
    const delayMs = pauseMs(backoff, attempt, retryAfterMs);
    if (!isPassing(error) || clock.now() + delayMs > deadlineMs) throw error;
    tellRetry(line, call, attempt, error, delayMs);
    await clock.sleep(delayMs, signal);
    signal.throwIfAborted();
    key = await askKey();
  }
}

function tellRetry(
  { settings }: Line,
  { operation, method, path }: Call,
  attempt: number,
  error: PetstoreError,
  delayMs: number,
): void {
  const url = settings.baseUrl + path;
  settings.hooks.onRetry?.({ operation, method, url, attempt, error, delayMs });
}

/** A request whose key was refused changed nothing, so another key may try, once in a call. */
function isKeyRefused(error: PetstoreError): boolean {
  return isApiError(error) && error.status === 401;
}

/** Failures that time may heal: no answer, or one of the two that ask to come back later. */
function isPassing(error: PetstoreError): boolean {
  return error.kind !== "api" || error.status === 429 || error.status === 503;
}
