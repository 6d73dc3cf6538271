import type { DeprecationWarnings } from "./deprecation.js";
import type { PetstoreError } from "./errors.js";
import type { Gate } from "./gate.js";
import type { Operation } from "./hooks.js";
import type { Lesson } from "./limits.js";
import type { Settings } from "./settings.js";

/** One operation called once, however many attempts that takes. */
export interface Call {
  readonly operation: Operation;
  readonly method: "GET" | "PATCH";
  /** Appended to the base address. */
  readonly path: string;
  /** The client's own headers for this operation. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Line {
  readonly settings: Settings;
  readonly gate: Gate;
  readonly deprecations: DeprecationWarnings;
  /** Told of every answer that carries the limit headers. */
  readonly onLesson: (lesson: Lesson) => void;
}

/** What one attempt needs to know. */
export interface AttemptPlan {
  readonly call: Call;
  /** The caller's headers. */
  readonly headers: Headers;
  readonly key: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
  readonly timeoutMs: number;
}

export interface Failure {
  readonly error: PetstoreError;
  readonly retryAfterMs: number;
}
