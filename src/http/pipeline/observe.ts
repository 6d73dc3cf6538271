import { inBackground } from "../../domain/running/background.ts";
import type { Trace } from "../../domain/running/clock.ts";
import type { ErrorCode } from "../../domain/running/errors.ts";
import type { Log } from "../../domain/running/events.ts";
import type { Reply } from "../messages/reply.ts";

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

export type Observer = (request: FinishedRequest) => void;

/** The fields of a finished request that are counted. */
export type CountedRequest = Pick<
  FinishedRequest,
  "operation" | "status" | "durationMs" | "bytes" | "keyId" | "errorCode" | "failure"
>;

/** What follows every request of a service. */
export interface Observers {
  readonly observers: readonly Observer[];
  /** Gets the same object for every request, because a new one would cost more than counting. */
  readonly counter?: ((request: CountedRequest) => void) | undefined;
  /** Called only for requests that failed: 500 and 503. Without other observers they cost nothing. */
  readonly failureObservers?: readonly Observer[];
  /** Starts the trace of a request that has just arrived, if it is to be traced. */
  readonly beginTrace?: ((headers: Pick<Headers, "get">) => Trace | undefined) | undefined;
}

/** The first and the last step of a pipeline. */
export interface Observation {
  /** False if only failed requests are observed. They have no times then. */
  readonly isMeasuring: boolean;
  /** Returns the start time, to be passed to `end`. */
  begin(): number;
  beginTrace(headers: Pick<Headers, "get">): Trace | undefined;
  end(finished: Finished): void;
}

/** A finished request as the pipeline knows it. */
export interface Finished {
  readonly startedMs: number;
  readonly requestId: string;
  readonly request: Pick<Request, "method" | "headers">;
  readonly operation: { readonly id: string } | undefined;
  readonly caller: { readonly keyId: string } | undefined;
  readonly reply: Reply;
  readonly trace: Trace | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** An observer that throws does not affect the request. The log records the first failure. */
export function createObservation(
  { observers, counter, beginTrace, failureObservers = [] }: Observers,
  monotonicMs: () => number,
  log: Log,
): Observation {
  const notify = observers.map((observer) => guarded(observer, log));
  const notifyOfFailure = failureObservers.map((observer) => guarded(observer, log));
  const count = counter && guarded(counter, log);
  const counted: Mutable<CountedRequest> = {
    operation: undefined,
    status: 0,
    durationMs: 0,
    bytes: 0,
    keyId: undefined,
    errorCode: undefined,
    failure: undefined,
  };
  const isMeasuring = observers.length > 0 || count !== undefined || beginTrace !== undefined;
  return {
    isMeasuring,
    begin: isMeasuring ? monotonicMs : () => 0,
    beginTrace: beginTrace ?? (() => undefined),
    end({ startedMs, requestId, request, operation, caller, reply, trace }) {
      const durationMs = isMeasuring ? monotonicMs() - startedMs : 0;
      const { method } = request;
      const bytes = method === "HEAD" ? 0 : bytesOf(reply);
      if (count) {
        counted.operation = operation?.id;
        counted.status = reply.status;
        counted.durationMs = durationMs;
        counted.bytes = bytes;
        counted.keyId = caller?.keyId;
        counted.errorCode = reply.errorCode;
        counted.failure = reply.failure;
        count(counted);
      }
      if (notify.length === 0 && reply.failure === undefined) return;
      const finished: FinishedRequest = {
        requestId,
        operation: operation?.id,
        method,
        status: reply.status,
        startedMs,
        durationMs,
        bytes,
        keyId: caller?.keyId,
        errorCode: reply.errorCode,
        failure: reply.failure,
        headers: request.headers,
        trace,
      };
      for (const observer of notify) observer(finished);
      if (reply.failure === undefined) return;
      for (const observer of notifyOfFailure) observer(finished);
    },
  };
}

/**
 * Calls an observer and logs when it starts and stops throwing. Same as `inBackground`, which costs
 * more than counting a request does.
 */
function guarded<T>(observer: (request: T) => void, log: Log): (request: T) => void {
  let isFailing = false;
  const report = inBackground("observing requests", log, (error: unknown) => {
    if (isFailing) throw error;
  });
  return (request) => {
    try {
      observer(request);
      if (!isFailing) return;
      isFailing = false;
      report(undefined);
    } catch (error) {
      isFailing = true;
      report(error);
    }
  };
}

function bytesOf({ body, streamBytes = 0 }: Reply): number {
  if (body === null) return 0;
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Blob ? body.size : streamBytes;
}
