import { ServiceError } from "./errors.ts";
import type { EventName, Log } from "./events.ts";

/**
 * Something that works or fails. It logs one event when it starts to fail, counts the failures, and
 * logs one event with their number and the duration when it works again.
 */
export interface Condition {
  /** `details` is called only for the first failure. */
  failed(details: () => Record<string, unknown>): void;
  succeeded(): void;
  readonly isFailing: boolean;
}

export interface ConditionOptions {
  readonly began: EventName;
  readonly ended: EventName;
  /** Part of both events. */
  readonly subject?: object | undefined;
  /**
   * A success counts as the end only this long after the last failure. Without it, work that fails
   * and succeeds in turn would log two lines each time. The duration is then that from the first to
   * the last failure.
   */
  readonly quietMs?: number;
  /** A clock that never jumps. */
  readonly monotonicMs?: (() => number) | undefined;
}

const systemMonotonicMs = () => performance.now();

export function createCondition(log: Log, options: ConditionOptions): Condition {
  const { began, ended, subject, quietMs = 0, monotonicMs = systemMonotonicMs } = options;
  let failures = 0;
  let beganAt = 0;
  let lastAt = 0;
  return {
    failed(details) {
      lastAt = monotonicMs();
      failures += 1;
      if (failures > 1) return;
      beganAt = lastAt;
      log(began, { ...subject, ...details() });
    },
    succeeded() {
      if (failures === 0) return;
      const now = monotonicMs();
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

/** Names a task. */
interface TaskSubject {
  readonly task: string;
  readonly id?: string;
  readonly name?: string;
}

/** Whether work that nobody waits for succeeds. */
export function createTaskCondition(log: Log, subject: TaskSubject): Condition {
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
