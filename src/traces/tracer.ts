import { randomBytes } from "node:crypto";
import type { Trace } from "../domain/running/clock.ts";
import type { FinishedRequest } from "../domain/running/requests.ts";
import { parseTraceParent } from "../domain/values/traceparent.ts";

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

type Traced = "requestId" | "method" | "status" | "errorCode" | "startedMs" | "durationMs";

/** A finished request, as its span describes it. */
interface TracedRequest extends Pick<FinishedRequest, Traced> {
  /** The path with its parameters in braces. Undefined if method and path name no operation. */
  readonly route: string | undefined;
}

interface Part {
  readonly name: string;
  readonly startedMs: number;
  readonly endedMs: number;
}

interface RequestTrace extends Trace {
  readonly traceId: string;
  readonly parentId: string | undefined;
  readonly state: string | undefined;
  readonly parts: readonly Part[];
}

export interface TracerOptions {
  /** The share of the requests without a valid `traceparent` that are sampled. */
  readonly ratio: number;
  readonly random: () => number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly finished: (spans: readonly Span[]) => void;
}

/** A longer `tracestate` is dropped, as W3C Trace Context allows. */
const stateLengthMax = 512;

/** Collects the spans of each sampled request. A valid `traceparent` decides whether it is sampled. */
export function createTracer(options: TracerOptions) {
  const { ratio, random, now, monotonicMs, finished } = options;
  return {
    /** Returns undefined for a request that is not sampled. */
    begin(headers: Pick<Headers, "get">): Trace | undefined {
      const parent = parseTraceParent(headers.get("traceparent"));
      if (!(parent ? parent.isSampled : random() < ratio)) return undefined;
      const parts: Part[] = [];
      const state = parent && headers.get("tracestate");
      const trace: RequestTrace = {
        traceId: parent?.traceId ?? randomId(16),
        parentId: parent?.parentId,
        state: state && state.length <= stateLengthMax ? state : undefined,
        parts,
        span: (name, startedMs, endedMs) => void parts.push({ name, startedMs, endedMs }),
      };
      return trace;
    },
    /** Takes a trace from `begin`. */
    end(trace: Trace, request: TracedRequest): void {
      // Once per request: the two clocks drift apart.
      finished(spansOf(trace as RequestTrace, request, now() - monotonicMs()));
    },
  };
}

function spansOf(trace: RequestTrace, request: TracedRequest, offsetMs: number): Span[] {
  const { traceId, state } = trace;
  const spanId = randomId(8);
  const { startedMs, durationMs, status } = request;
  const timed = ({ name, startedMs, endedMs }: Part) => ({
    traceId,
    state,
    name,
    startedAt: startedMs + offsetMs,
    endedAt: endedMs + offsetMs,
  });
  const { name, attributes } = describe(request);
  const whole: Span = {
    ...timed({ name, startedMs, endedMs: startedMs + durationMs }),
    spanId,
    parentId: trace.parentId,
    kind: "server",
    attributes,
    isError: status >= 500,
  };
  const parts = trace.parts.map(
    (part): Span => ({
      ...timed(part),
      spanId: randomId(8),
      parentId: spanId,
      kind: "internal",
      attributes: {},
      isError: false,
    }),
  );
  return [whole, ...parts];
}

const knownMethods = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE)$/;

/**
 * Name and attributes by OpenTelemetry's conventions for HTTP servers. There, a status from 400 to
 * 499 is not an error, because the server did what it should.
 */
function describe(request: TracedRequest): Pick<Span, "name" | "attributes"> {
  const { method, route, status, requestId, errorCode } = request;
  const isKnown = knownMethods.test(method);
  return {
    name: [isKnown ? method : "HTTP", ...(route === undefined ? [] : [route])].join(" "),
    attributes: {
      "http.request.method": isKnown ? method : "_OTHER",
      "http.request.method_original": isKnown ? undefined : method,
      "http.route": route,
      "http.response.status_code": status,
      "error.type": status >= 500 ? (errorCode ?? String(status)) : undefined,
      "petstore.request_id": requestId,
    },
  };
}

function randomId(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
