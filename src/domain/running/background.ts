import type { MaybePromise } from "./clock.ts";
import { ServiceError } from "./errors.ts";
import type { EventName, Log } from "./events.ts";

/**
 * Wraps a callback whose caller neither awaits nor catches, such as that of a timer or a listener.
 * An exception would otherwise reach the runtime, which may end the process. Logs one line when the
 * work starts to fail, and one with the number of failures when it succeeds again.
 */
export function inBackground<A extends unknown[]>(
  name: string,
  log: Log,
  work: (...args: A) => MaybePromise<unknown>,
): (...args: A) => void {
  const condition = createTaskCondition(log, { task: name });
  const failed = (error: unknown) => condition.failed(() => failureDetails(error));

  return (...args) => {
    try {
      const result = work(...args);
      if (result instanceof Promise) result.then(condition.succeeded, failed);
      else condition.succeeded();
    } catch (error) {
      failed(error);
    }
  };
}

/**
 * Returns the same work, but without an error while the store is unavailable. For tasks that are repeated
 * later. `StoreStates` logs that the store is unavailable.
 */
export function whileAvailable(work: () => Promise<unknown>): () => Promise<void> {
  return async () => {
    try {
      await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  };
}

/**
 * Runs `work` at an interval, never twice at once, without keeping the process alive. Returns a
 * function that stops it. A run that fails after that logs nothing, because what it uses may have
 * been closed. The only place that starts an interval.
 */
export function every(
  intervalMs: number,
  name: string,
  log: Log,
  work: () => MaybePromise<unknown>,
): () => void {
  let isRunning = false;
  let isStopped = false;
  const logUntilStopped: Log = (event, details) => {
    if (!isStopped) log(event, details);
  };
  const run = inBackground(name, logUntilStopped, () => {
    const result = work();
    if (!(result instanceof Promise)) return undefined;
    isRunning = true;
    return result.finally(() => {
      isRunning = false;
    });
  });
  const timer = setInterval(() => {
    if (!isRunning) run();
  }, intervalMs);
  timer.unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

/** Returns a function that runs work after its earlier runs have ended, whether they failed or not. */
export function inTurn(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.catch(() => {}).then(work);
    return last;
  };
}

/** Calls made while the work runs share its result. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

export type Alarm = ReturnType<typeof createAlarm>;

/** A timer with a longer delay would fire at once. */
const timerDelayMaxMs = 2 ** 31 - 1;

/** Lets one loop wait for a time, or until somebody wakes it. */
export function createAlarm() {
  let isSet = false;
  let wakeUp: (() => void) | undefined;
  return {
    /** Ends the wait. If nobody waits, the next wait ends at once. */
    wake(): void {
      isSet = true;
      wakeUp?.();
    },
    /** Does not keep the process alive. `Infinity` waits until `wake`. */
    async wait(delayMs: number): Promise<void> {
      if (!isSet && delayMs > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wakeUp = resolve;
        const timer = delayMs < timerDelayMaxMs ? setTimeout(resolve, delayMs).unref() : undefined;
        await promise;
        clearTimeout(timer);
        wakeUp = undefined;
      }
      isSet = false;
    },
  };
}

const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Long work awaits this between its slices, so that
 * requests are served in the meantime. Only one caller continues per turn, so several long jobs do
 * not add up to one long turn.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeOne);
  });
}

function resumeOne(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(resumeOne);
}

export type Condition = ReturnType<typeof createCondition>;

export interface ConditionOptions {
  readonly began: EventName;
  readonly ended: EventName;
  /** Part of both events. */
  readonly subject?: object | undefined;
  /**
   * A success ends the condition only this long after the last failure. Otherwise, work that fails and
   * succeeds by turns would log two lines each time. The logged duration then ends at the last failure.
   */
  readonly quietMs?: number;
  /** A clock that never jumps. */
  readonly monotonicMs?: (() => number) | undefined;
}

/** The time of a clock that never jumps. */
export const monotonicMs = () => performance.now();

/**
 * Something that works or fails. It logs one event when it starts to fail, counts the failures, and
 * logs one event with their number and the duration when it works again.
 */
export function createCondition(log: Log, options: ConditionOptions) {
  const { began, ended, subject, quietMs = 0, monotonicMs: nowMs = monotonicMs } = options;
  let failures = 0;
  let beganAt = 0;
  let lastAt = 0;
  return {
    /** `details` is called only for the first failure. */
    failed(details: () => Record<string, unknown>): void {
      lastAt = nowMs();
      failures += 1;
      if (failures > 1) return;
      beganAt = lastAt;
      log(began, { ...subject, ...details() });
    },
    succeeded(): void {
      if (failures === 0) return;
      const now = nowMs();
      if (now - lastAt < quietMs) return;
      const endedAt = quietMs > 0 ? lastAt : now;
      log(ended, { ...subject, failures, durationMs: Math.round(endedAt - beganAt) });
      failures = 0;
    },
    get isFailing() {
      return failures > 0;
    },
  };
}

/** The condition of a task in the background. */
export function createTaskCondition(
  log: Log,
  subject: { readonly task: string; readonly id?: string; readonly name?: string },
): Condition {
  return createCondition(log, { began: "task failed", ended: "task succeeded again", subject });
}

/** The reason and the cause of a failure, for the log. Clients see neither. */
export function failureDetails(error: unknown): Record<string, unknown> {
  if (!(error instanceof ServiceError)) return { error: String(error) };
  const { reason, cause, message } = error;
  return { reason, cause: cause === undefined ? message : textOf(cause) };
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Whether the store, and not the work that uses it, has failed. */
export function isUnavailable(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === "unavailable";
}
