import type { DeprecationWarnings } from "./deprecation.js";
import type { PetstoreError } from "./errors.js";
import type { Attempt } from "./hooks.js";
import type { Limits } from "./limits.js";
import type { RequestQueue } from "./queue.js";
import type { Settings } from "./settings.js";
import type { Operation } from "./types.js";
import type { Permit } from "./window.js";

/** What all calls of a client share. */
export interface Transport {
  readonly settings: Settings;
  readonly queue: RequestQueue;
  readonly deprecations: DeprecationWarnings;
  /** Called for every response with rate limit headers. */
  readonly onLimits: (limits: Limits) => void;
}

/** One call of an operation, with all its attempts. */
export interface Call {
  readonly operation: Operation;
  readonly method: "GET" | "PATCH" | "POST";
  /** Appended to the base URL. */
  readonly path: string;
  /** Headers that the client sets for this operation. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface AttemptPlan {
  readonly call: Call;
  readonly url: string;
  /** The caller's headers. */
  readonly headers: Headers;
  readonly key: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
  readonly timeoutMs: number;
  readonly permit: Permit;
  readonly signal: AbortSignal;
}

/** An attempt that failed. */
export interface Failure {
  readonly error: PetstoreError;
  readonly retryAfterMs: number;
}

/** The fields that every hook receives. */
export function eventOf({ call, url, attempt }: AttemptPlan): Attempt {
  return { operation: call.operation, method: call.method, url, attempt };
}
