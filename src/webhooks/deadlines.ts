import { AttemptFailure } from "./failures.ts";

export interface Deadline {
  /** Aborts with an AttemptFailure as its reason. */
  readonly signal: AbortSignal;
  /** Stops the timer and the listener. Call it when the work is over. */
  end(): void;
}

/** Starts a signal that aborts after some time, and at once when `outer` aborts. */
export function startDeadline(timeoutMs: number, message: string, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const expire = () => controller.abort(new AttemptFailure(message));
  const cancel = () => {
    const isOurs = outer?.reason instanceof AttemptFailure;
    controller.abort(isOurs ? outer.reason : new AttemptFailure("the attempt was cancelled"));
  };
  const timer = setTimeout(expire, timeoutMs);
  outer?.addEventListener("abort", cancel, { once: true });
  if (outer?.aborted) cancel();
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", cancel);
    },
  };
}

/**
 * Runs `start`, which calls one of two functions when it is done, and returns a function that cleans
 * up. Rejects with the reason of the signal when that aborts first, and does not start after it.
 */
export function untilAborted<T>(
  signal: AbortSignal,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const stop = start(resolve, reject);
  return promise.finally(() => {
    signal.removeEventListener("abort", abort);
    stop();
  });
}
