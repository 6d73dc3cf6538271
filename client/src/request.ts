import { onAbort } from "./abort.js";
import { type Answer, readRefusal } from "./answer.js";
import { pauseMs } from "./backoff.js";
import { type ApiError, NetworkError, type PetstoreError, TimeoutError } from "./errors.js";
import type { Gate } from "./gate.js";
import { type Lesson, readLesson, readRetryAfterSeconds } from "./limits.js";
import { type Budget, type CallOptions, type Settings, settleBudget } from "./options.js";
import type { Permit } from "./window.js";

/** One operation called once, however many attempts that takes. */
export interface Call {
  readonly method: "GET" | "PATCH";
  /** Appended to the base address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Line {
  readonly settings: Settings;
  readonly gate: Gate;
  /** Told of every answer that carries the limit headers. */
  readonly onLesson: (lesson: Lesson) => void;
}

interface Failure {
  readonly error: PetstoreError;
  readonly retryAfterMs: number;
}

/** Sends until an answer succeeds, a refusal is final, the budget is spent, or the caller aborts. */
export async function send(line: Line, call: Call, options: CallOptions): Promise<Answer> {
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
  options: Budget,
  signal: AbortSignal,
): Promise<Answer> {
  const { clock, backoff } = line.settings;
  const { timeoutMs, attemptsMax, retryForMs } = settleBudget(options, line.settings);
  const deadlineMs = clock.now() + retryForMs;
  for (let attempt = 1; ; attempt++) {
    const permit = await line.gate.enter(deadlineMs, signal);
    const outcome = await attemptOnce(line, call, permit, timeoutMs, signal);
    if (!("error" in outcome)) return outcome;
    if (attempt >= attemptsMax || !isPassing(outcome.error)) throw outcome.error;
    const restMs = pauseMs(backoff, attempt, outcome.retryAfterMs);
    if (clock.now() + restMs > deadlineMs) throw outcome.error;
    await clock.sleep(restMs, signal);
    signal.throwIfAborted();
  }
}

/** Failures that time may heal: no answer, or one of the two that ask to come back later. */
function isPassing(error: PetstoreError): boolean {
  return error.kind !== "api" || error.status === 429 || error.status === 503;
}

async function attemptOnce(
  line: Line,
  call: Call,
  permit: Permit,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Answer | Failure> {
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
    const response = await dispatch(line.settings, call, stop.signal);
    isAnswered = true;
    const retryAfter = noteAnswer(line, permit, response);
    const answer = {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
    };
    return isSuccess(answer) ? answer : refusal(readRefusal(answer, retryAfter));
  } catch (cause) {
    if (!isAnswered) line.gate.lost();
    signal.throwIfAborted();
    const error = isTimedOut
      ? new TimeoutError(`No complete answer within ${timeoutMs} ms`)
      : new NetworkError(`The connection failed: ${reasonOf(cause)}`, { cause });
    return { error, retryAfterMs: 0 };
  } finally {
    done.abort();
  }
}

function dispatch(settings: Settings, call: Call, signal: AbortSignal): Promise<Response> {
  return settings.fetch(settings.baseUrl + call.path, {
    method: call.method,
    headers: {
      Accept: "application/json",
      Authorization: settings.authorization,
      ...call.headers,
    },
    ...(call.body === undefined ? {} : { body: call.body }),
    // The client keeps its own copy of the list; a browser's cache or cookies have no part in it.
    cache: "no-store",
    credentials: "omit",
    signal,
  });
}

/** Passes on what the headers teach, before the body is read: others wait for it. */
function noteAnswer(line: Line, permit: Permit, response: Response): number | undefined {
  const nowMs = line.settings.clock.now();
  const lesson = readLesson(response.headers, nowMs);
  const retryAfter = readRetryAfterSeconds(response.headers, nowMs);
  const retryAfterMs = retryAfter === undefined ? undefined : retryAfter * 1000;
  if (lesson !== undefined) line.onLesson(lesson);
  line.gate.answered(permit, { status: response.status, lesson, retryAfterMs });
  return retryAfter;
}

function isSuccess(answer: Answer): boolean {
  return (answer.status >= 200 && answer.status < 300) || answer.status === 304;
}

function refusal(error: ApiError): Failure {
  return { error, retryAfterMs: (error.retryAfter ?? 0) * 1000 };
}

/** Node says only "fetch failed" and keeps the reason one or more causes further down. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause === undefined ? cause.message : `${cause.message}: ${reasonOf(cause.cause)}`;
}
