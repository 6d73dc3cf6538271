import { inBackground } from "../../domain/running/background.ts";
import type { Trace } from "../../domain/running/clock.ts";
import type { ErrorCode } from "../../domain/running/errors.ts";
import type { Log } from "../../domain/running/events.ts";
import type { CountedRequest, FinishedRequest } from "../../domain/running/requests.ts";
import type { Reply } from "../messages/reply.ts";

export type Observer = (request: FinishedRequest) => void;

/** A request whose response is an error. */
export interface RejectedRequest extends FinishedRequest {
  readonly errorCode: ErrorCode;
  readonly url: string;
  /** The body of the response. */
  readonly body: string;
}

/** What follows every request of a service. */
export interface Observers {
  readonly observers: readonly Observer[];
  /** Gets the same object for every request, because a new one would cost more than counting. */
  readonly counter?: ((request: CountedRequest) => void) | undefined;
  /** Called only for responses with an error. Other requests cost nothing. */
  readonly errorObservers?: readonly ((request: RejectedRequest) => void)[];
  /** Starts the trace of a request that has just arrived, if it is to be traced. */
  readonly beginTrace?: ((headers: Pick<Headers, "get">) => Trace | undefined) | undefined;
}

export type Observation = ReturnType<typeof createObservation>;

/** A finished request as the pipeline knows it. */
export interface Finished {
  readonly startedMs: number;
  readonly requestId: string;
  readonly request: Pick<Request, "method" | "headers" | "url">;
  readonly operation: { readonly id: string } | undefined;
  readonly caller: { readonly keyId: string } | undefined;
  readonly reply: Reply;
  readonly trace: Trace | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The first and the last step of a pipeline. An observer that throws does not affect the request. The log
 * records the first failure.
 */
export function createObservation(
  { observers, counter, beginTrace, errorObservers = [] }: Observers,
  monotonicMs: () => number,
  log: Log,
) {
  const notify = observers.map((observer) => guarded(observer, log));
  const notifyOfError = errorObservers.map((observer) => guarded(observer, log));
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
    /** False if only requests with an error are observed. */
    isMeasuring,
    /** Returns the start time, to be passed to `end`. */
    begin: monotonicMs,
    beginTrace: beginTrace ?? (() => undefined),
    end({ startedMs, requestId, request, operation, caller, reply, trace }: Finished): void {
      const durationMs = monotonicMs() - startedMs;
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
      const { errorCode, body } = reply;
      if (notify.length === 0 && errorCode === undefined) return;
      const finished: FinishedRequest = {
        requestId,
        operation: operation?.id,
        method,
        status: reply.status,
        startedMs,
        durationMs,
        bytes,
        keyId: caller?.keyId,
        errorCode,
        failure: reply.failure,
        headers: request.headers,
        trace,
      };
      for (const observer of notify) observer(finished);
      if (errorCode === undefined || typeof body !== "string") return;
      const rejected = { ...finished, errorCode, url: request.url, body };
      for (const observer of notifyOfError) observer(rejected);
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
