import { invalidRequest } from "../domain/running/errors.ts";
import type { Span } from "./tracer.ts";

/** The path for traces is appended to the path of the endpoint, as OpenTelemetry prescribes. */
export function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/traces`;
  return url.href;
}

/** Parses `name=value` pairs, separated by commas. Values may be percent-encoded. */
export function parseHeaders(text: string): Readonly<Record<string, string>> {
  const pairs = text
    .split(",")
    .map((pair) => pair.trim())
    .filter(Boolean);
  try {
    const headers = new Headers(pairs.map(parsePair));
    return Object.fromEntries(headers);
  } catch {
    // The message must not show a value: it is usually a secret.
    const message = "--otlp-headers must be name=value, separated by commas";
    throw invalidRequest(message);
  }
}

function parsePair(pair: string): [string, string] {
  const equals = pair.indexOf("=");
  if (equals < 1) throw new Error("no name");
  return [pair.slice(0, equals).trim(), decodeURIComponent(pair.slice(equals + 1).trim())];
}

/** Describes the service that the spans are from. */
export interface Resource {
  readonly serviceName: string;
  readonly serviceVersion: string;
  readonly environment: string;
}

const spanKinds = { internal: 1, server: 2 };
const errorStatus = 2;

/** Writes spans as an ExportTraceServiceRequest in JSON. */
export function encodeSpans(resource: Resource, spans: readonly Span[]): string {
  const scope = { name: "petstore-inventory", version: resource.serviceVersion };
  return JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: toAttributes({
            "service.name": resource.serviceName,
            "service.version": resource.serviceVersion,
            "deployment.environment.name": resource.environment,
          }),
        },
        scopeSpans: [{ scope, spans: spans.map(toJson) }],
      },
    ],
  });
}

function toJson(span: Span): unknown {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    traceState: span.state,
    parentSpanId: span.parentId,
    name: span.name,
    kind: spanKinds[span.kind],
    startTimeUnixNano: toNanoseconds(span.startedAt),
    endTimeUnixNano: toNanoseconds(span.endedAt),
    attributes: toAttributes(span.attributes),
    status: span.isError ? { code: errorStatus } : {},
  };
}

function toAttributes(values: Span["attributes"]): unknown[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    // JSON writes 64-bit integers as strings.
    const written =
      typeof value === "number" ? { intValue: String(value) } : { stringValue: value };
    return [{ key, value: written }];
  });
}

/** A double holds microseconds since 1970 exactly, and nanoseconds not. */
function toNanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
