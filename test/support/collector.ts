import { expect } from "bun:test";
import { until } from "./until.ts";

/** A span as the collector received it, with attributes as an object. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Record<string, string>;
  readonly status: { readonly code?: number };
}

/** An HTTP server that receives traces, as an OpenTelemetry collector does. */
export interface Collector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly requests: readonly Request[];
  /** Attributes of the service, from the last request. */
  readonly resource: Record<string, string>;
  /** The status of later responses, or "silent" for none. */
  mode: number | "silent";
  received(count: number): Promise<void>;
  stop(): Promise<void>;
}

export function startCollector(): Collector {
  const spans: ReceivedSpan[] = [];
  const requests: Request[] = [];
  let resource: Record<string, string> = {};
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      requests.push(request);
      if (collector.mode === "silent") return await new Promise<Response>(() => {});
      const [first] = JSON.parse(await request.text()).resourceSpans;
      if (collector.mode !== 200) return new Response(null, { status: collector.mode });
      resource = toObject(first.resource.attributes);
      for (const span of first.scopeSpans[0].spans) {
        expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
        expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
        spans.push({ ...span, attributes: toObject(span.attributes) });
      }
      return Response.json({});
    },
  });
  const collector: Collector = {
    url: server.url.href,
    spans,
    requests,
    get resource() {
      return resource;
    },
    mode: 200,
    received: async (count) =>
      void (await until(() => spans.length >= count, 8_000, `${count} spans received`)),
    stop: () => server.stop(true),
  };
  return collector;
}

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } };

function toObject(attributes: readonly Attribute[]): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, (value.stringValue ?? value.intValue)!]),
  );
}
