import { readError } from "./body.js";
import { type AttemptPlan, eventOf, type Failure, type Transport } from "./call.js";
import { NetworkError, TimeoutError } from "./errors.js";
import { checkReserved } from "./headers.js";
import { readLimitUpdate, readRetryAfterSeconds } from "./limits.js";
import { findRedirect } from "./redirect.js";
import { isSuccess, type RawResponse } from "./response.js";

/** A response whose body has not been read. Its `text` is empty. */
export interface OpenResponse extends RawResponse {
  readonly body: ReadableStream<Uint8Array> | null;
}

/** Sends one request and reads its response. Throws the signal's reason or a hook's error. */
export function attemptOnce(
  transport: Transport,
  plan: AttemptPlan,
): Promise<RawResponse | Failure> {
  return attemptWith(transport, plan, async (response) => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  }));
}

/**
 * Like `attemptOnce`, but ends with the headers of a successful response. The caller reads its body
 * and must cancel it: neither the timeout nor the signal of the plan applies to it.
 */
export function attemptStream(
  transport: Transport,
  plan: AttemptPlan,
): Promise<OpenResponse | Failure> {
  return attemptWith(transport, plan, async ({ status, headers, body }) => ({
    status,
    headers,
    text: "",
    body,
  }));
}

type ReadSuccess<T> = (response: Response) => Promise<T>;

async function attemptWith<T extends RawResponse>(
  transport: Transport,
  plan: AttemptPlan,
  readSuccess: ReadSuccess<T>,
): Promise<T | Failure> {
  const { hooks, clock } = transport.settings;
  const headers = new Headers(plan.headers);
  try {
    hooks.onRequest?.({ ...eventOf(plan), headers });
    checkReserved(headers);
  } catch (error) {
    transport.queue.recordLost();
    throw error;
  }
  const startMs = clock.now();
  const outcome = await sendWithTimeout(transport, plan, headers, readSuccess);
  const response = responseOf(outcome);
  if (response !== undefined) {
    transport.deprecations.check(plan.call.operation, response.headers);
    hooks.onResponse?.({ ...eventOf(plan), response, durationMs: clock.now() - startMs });
  }
  return outcome;
}

async function sendWithTimeout<T extends RawResponse>(
  transport: Transport,
  plan: AttemptPlan,
  headers: Headers,
  readSuccess: ReadSuccess<T>,
): Promise<T | Failure> {
  const { timeoutMs, signal } = plan;
  const stop = new AbortController();
  const done = new AbortController();
  if (signal.aborted) stop.abort();
  signal.addEventListener("abort", () => stop.abort(), { signal: done.signal });
  let isTimedOut = false;
  transport.settings.clock.sleep(timeoutMs, done.signal).then(() => {
    if (done.signal.aborted) return;
    isTimedOut = true;
    stop.abort();
  });
  let hasResponse = false;
  try {
    const response = await fetchOnce(transport, plan, headers, stop.signal);
    hasResponse = true;
    return await readResponse(transport, plan, response, readSuccess);
  } catch (cause) {
    if (!hasResponse) transport.queue.recordLost();
    signal.throwIfAborted();
    const error = isTimedOut
      ? new TimeoutError(`No complete response within ${timeoutMs} ms`)
      : new NetworkError(`The connection failed: ${reasonOf(cause)}`, { cause });
    return { error, retryAfterMs: 0 };
  } finally {
    done.abort();
  }
}

function fetchOnce(
  { settings }: Transport,
  { call, url, key }: AttemptPlan,
  headers: Headers,
  signal: AbortSignal,
): Promise<Response> {
  const own = { Accept: "application/json", Authorization: `Bearer ${key}`, ...call.headers };
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return settings.fetch(url, {
    method: call.method,
    headers,
    ...(call.body === undefined ? {} : { body: call.body }),
    redirect: "manual",
    // The client caches the list; it does not use a browser's cache or cookies.
    cache: "no-store",
    credentials: "omit",
    signal,
  });
}

async function readResponse<T extends RawResponse>(
  transport: Transport,
  plan: AttemptPlan,
  response: Response,
  readSuccess: ReadSuccess<T>,
): Promise<T | Failure> {
  const retryAfter = recordLimits(transport, plan, response);
  const redirect = findRedirect(response, plan.url);
  if (redirect !== undefined) {
    response.body?.cancel().catch(() => {});
    return { error: redirect, retryAfterMs: 0 };
  }
  if (isSuccess(response)) return await readSuccess(response);
  const { status, headers } = response;
  const raw = { status, headers, text: await response.text() };
  return { error: readError(raw, retryAfter), retryAfterMs: (retryAfter ?? 0) * 1000 };
}

/**
 * Records what the headers report about the rate limit; returns `Retry-After`. This happens before
 * the body is read, because other calls may be waiting for it.
 */
function recordLimits(
  { settings, queue, onLimits }: Transport,
  { permit }: AttemptPlan,
  response: Response,
): number | undefined {
  const nowMs = settings.clock.now();
  const limits = readLimitUpdate(response.headers, nowMs);
  const retryAfter = readRetryAfterSeconds(response.headers, nowMs);
  const retryAfterMs = retryAfter === undefined ? undefined : retryAfter * 1000;
  if (limits !== undefined) onLimits(limits);
  queue.recordResponse(permit, { status: response.status, limits, retryAfterMs });
  return retryAfter;
}

function responseOf(outcome: RawResponse | Failure): RawResponse | undefined {
  if (!("error" in outcome)) return outcome;
  return outcome.error.kind === "api" ? outcome.error.response : undefined;
}

/** Joins the messages of all causes. Node's own message is only "fetch failed". */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause === undefined ? cause.message : `${cause.message}: ${reasonOf(cause.cause)}`;
}
