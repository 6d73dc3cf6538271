import type { Trace } from "./clock.ts";
import type { ErrorCode } from "./errors.ts";

/** A request that has its response. For access logs, metrics and traces. */
export interface FinishedRequest {
  readonly requestId: string;
  /** The id of the operation that method and path name, even if the request was rejected earlier. */
  readonly operation: string | undefined;
  readonly method: string;
  readonly status: number;
  /** When the request arrived, as `performance.now()` tells the time. */
  readonly startedMs: number;
  /** Until the response is handed to the server. Sending it is not included. */
  readonly durationMs: number;
  /** The length of the response body: 0 for HEAD and for a response without a body. */
  readonly bytes: number;
  /** Undefined if the request has no valid key. */
  readonly keyId: string | undefined;
  /** Undefined unless the response is an error. */
  readonly errorCode: ErrorCode | undefined;
  /** What was thrown, if the status is 500 or 503. */
  readonly failure: unknown;
  readonly headers: Pick<Headers, "get">;
  /** What `beginTrace` returned. */
  readonly trace: Trace | undefined;
}

/** The fields of a finished request that are counted. */
export type CountedRequest = Pick<
  FinishedRequest,
  "operation" | "status" | "durationMs" | "bytes" | "keyId" | "errorCode" | "failure"
>;
