import { inBackground } from "../domain/background.ts";
import type { ErrorCode } from "../domain/errors.ts";
import type { Log } from "../domain/ports.ts";
import type { Reply } from "./operation.ts";

/** A request that has its response. For access logs, metrics and traces. */
export interface FinishedRequest {
  /** The id of the operation that method and path name, even if the request was rejected earlier. */
  readonly operation: string | undefined;
  readonly method: string;
  readonly status: number;
  /** Until the response is handed to the server. Sending it is not included. */
  readonly durationMs: number;
  /** The length of the response body: 0 for HEAD and for a response without a body. */
  readonly bytes: number;
  /** Undefined if the request has no valid key. */
  readonly keyId: string | undefined;
  /** Undefined unless the response is an error. */
  readonly errorCode: ErrorCode | undefined;
}

export type Observer = (request: FinishedRequest) => void;

/** The last step of a pipeline. */
export interface Observation {
  /** Returns the start time, to be passed to `end`. */
  begin(): number;
  end(
    startedAt: number,
    method: string,
    operation: { readonly id: string } | undefined,
    caller: { readonly keyId: string } | undefined,
    reply: Reply,
  ): void;
}

/** An observer that throws does not affect the request. The log records the first failure. */
export function createObservation(
  observer: Observer,
  monotonicMs: () => number,
  log: Log,
): Observation {
  const notify = inBackground("observing requests", log, observer);
  return {
    begin: monotonicMs,
    end(startedAt, method, operation, caller, reply) {
      notify({
        operation: operation?.id,
        method,
        status: reply.status,
        durationMs: monotonicMs() - startedAt,
        bytes: method === "HEAD" ? 0 : bytesOf(reply),
        keyId: caller?.keyId,
        errorCode: reply.errorCode,
      });
    },
  };
}

function bytesOf({ body, streamBytes = 0 }: Reply): number {
  if (body === null) return 0;
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Blob ? body.size : streamBytes;
}
