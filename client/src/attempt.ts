import { readError } from "./body.js";
import type { AttemptPlan, Failure, Line } from "./call.js";
import { type ApiError, NetworkError, TimeoutError } from "./errors.js";
import { checkReserved } from "./headers.js";
import { readLesson, readRetryAfterSeconds } from "./limits.js";
import { findRedirect } from "./redirect.js";
import { isSuccess, type RawResponse } from "./response.js";
import type { Settings } from "./settings.js";
import type { Permit } from "./window.js";

/** Sends one request and reads its response. Throws the signal's reason, or what a hook threw. */
export async function attemptOnce(
  line: Line,
  plan: AttemptPlan,
  permit: Permit,
  signal: AbortSignal,
): Promise<RawResponse | Failure> {
  const { hooks, clock, baseUrl } = line.settings;
  const { operation, method, path } = plan.call;
  const about = { operation, method, url: baseUrl + path, attempt: plan.attempt };
  const headers = new Headers(plan.headers);
  try {
    hooks.onRequest?.({ ...about, headers });
    checkReserved(headers);
  } catch (error) {
    line.gate.lost();
    throw error;
  }
  const startMs = clock.now();
  const outcome = await exchange(line, plan, headers, permit, signal);
  const response = responseOf(outcome);
  if (response !== undefined) {
    line.deprecations.note(operation, response.headers);
    hooks.onResponse?.({ ...about, response, durationMs: clock.now() - startMs });
  }
  return outcome;
}

async function exchange(
  line: Line,
  plan: AttemptPlan,
  headers: Headers,
  permit: Permit,
  signal: AbortSignal,
): Promise<RawResponse | Failure> {
  const { timeoutMs } = plan;
  const stop = new AbortController();
  const done = new AbortController();
  if (signal.aborted) stop.abort();
  signal.addEventListener("abort", () => stop.abort(), { signal: done.signal });
  let isTimedOut = false;
  line.settings.clock.sleep(timeoutMs, done.signal).then(() => {
    if (done.signal.aborted) return;
    isTimedOut = true;
    stop.abort();
  });
  let isAnswered = false;
  try {
    const response = await dispatch(line.settings, plan, headers, stop.signal);
    isAnswered = true;
    return await readResponse(line, plan, permit, response);
  } catch (cause) {
    if (!isAnswered) line.gate.lost();
    signal.throwIfAborted();
    const error = isTimedOut
      ? new TimeoutError(`No complete response within ${timeoutMs} ms`)
      : new NetworkError(`The connection failed: ${reasonOf(cause)}`, { cause });
    return { error, retryAfterMs: 0 };
  } finally {
    done.abort();
  }
}

function dispatch(
  settings: Settings,
  { call, key }: AttemptPlan,
  headers: Headers,
  signal: AbortSignal,
): Promise<Response> {
  const own = { Accept: "application/json", Authorization: `Bearer ${key}`, ...call.headers };
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return settings.fetch(settings.baseUrl + call.path, {
    method: call.method,
    headers,
    ...(call.body === undefined ? {} : { body: call.body }),
    redirect: "manual",
    // The client keeps its own copy of the list; a browser's cache or cookies have no part in it.
    cache: "no-store",
    credentials: "omit",
    signal,
  });
}

async function readResponse(
  line: Line,
  { call }: AttemptPlan,
  permit: Permit,
  response: Response,
): Promise<RawResponse | Failure> {
  const retryAfter = noteLimits(line, permit, response);
  const redirect = findRedirect(response, line.settings.baseUrl + call.path);
  if (redirect !== undefined) {
    response.body?.cancel().catch(() => {});
    return { error: redirect, retryAfterMs: 0 };
  }
  const { status, headers } = response;
  const raw = { status, headers, text: await response.text() };
  return isSuccess(raw) ? raw : refusal(readError(raw, retryAfter));
}

/** Passes on what the headers teach, before the body is read: others wait for it. */
function noteLimits(line: Line, permit: Permit, response: Response): number | undefined {
  const nowMs = line.settings.clock.now();
  const lesson = readLesson(response.headers, nowMs);
  const retryAfter = readRetryAfterSeconds(response.headers, nowMs);
  const retryAfterMs = retryAfter === undefined ? undefined : retryAfter * 1000;
  if (lesson !== undefined) line.onLesson(lesson);
  line.gate.answered(permit, { status: response.status, lesson, retryAfterMs });
  return retryAfter;
}

function refusal(error: ApiError): Failure {
  return { error, retryAfterMs: (error.retryAfter ?? 0) * 1000 };
}

function responseOf(outcome: RawResponse | Failure): RawResponse | undefined {
  if (!("error" in outcome)) return outcome;
  return outcome.error.kind === "api" ? outcome.error.response : undefined;
}

/** Node says only "fetch failed" and keeps the reason one or more causes further down. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause === undefined ? cause.message : `${cause.message}: ${reasonOf(cause.cause)}`;
}
