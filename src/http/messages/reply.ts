import type { ErrorCode } from "../../domain/running/errors.ts";
import type { HeaderTemplate } from "./headers.ts";

/** The reply of an operation that has succeeded, with this value as JSON. */
export function ok(value: unknown): Reply {
  return { status: 200, body: JSON.stringify(value) };
}

/** A response without the headers that all responses have. */
export interface Reply {
  readonly status: number;
  readonly body: string | Blob | ReadableStream<Uint8Array> | null;
  /** The length of a body that is a stream. */
  readonly streamBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The value of the header ETag. Faster than in `headers` if every response has another one. */
  readonly etag?: string;
  /** The prepared headers of a response that is sent often. `headers` is then not used. */
  readonly template?: HeaderTemplate;
  /** How long the connection may be silent during this response, if not the usual time. */
  readonly idleTimeoutSeconds?: number;
  /** True if parts of the request were counted, too. */
  readonly hasParts?: true;
  /** Set on errors. */
  readonly errorCode?: ErrorCode;
  /** What was thrown, for the log. Set on errors of the service itself: 500 and 503. */
  readonly failure?: unknown;
}
