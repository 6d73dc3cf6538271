/** A part of a trace that is ready to be sent. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for the first span of a trace. */
  readonly parentId: string | undefined;
  /** The header `tracestate` of the request, which is passed on unchanged. */
  readonly state: string | undefined;
  readonly name: string;
  readonly kind: "server" | "internal";
  /** Milliseconds since 1970, with a fraction. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly isError: boolean;
}

/** Describes the service that the spans are from. */
export interface Resource {
  readonly serviceName: string;
  readonly serviceVersion: string;
  readonly environment: string;
}
