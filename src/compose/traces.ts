import { monotonicMs } from "../domain/running/background.ts";
import type { FinishedRequest } from "../domain/running/requests.ts";
import { fullIdOf } from "../http/pipeline/surface.ts";
import { packageVersion } from "../version.ts";
import type { ServiceOptions } from "./options.ts";
import type { Table } from "./tables.ts";

export type Traces = NonNullable<Awaited<ReturnType<typeof openTraces>>>;

/** Loads the code for traces only if there is a collector to send them to. */
export async function openTraces(
  { config, clock, log }: ServiceOptions,
  surfaces: readonly Table[],
  opened: AsyncDisposableStack,
) {
  if (config.otlpEndpoint === undefined) return undefined;
  const { parseHeaders, tracesUrl } = await import("../traces/otlp.ts");
  const { startExporter } = await import("../traces/exporter.ts");
  const { createTracer } = await import("../traces/tracer.ts");
  const exporter = startExporter({
    url: tracesUrl(config.otlpEndpoint),
    headers: parseHeaders(config.otlpHeaders),
    resource: {
      serviceName: config.serviceName,
      serviceVersion: packageVersion(),
      environment: config.environment,
    },
    bounds: config.traces,
    log,
  });
  opened.defer(exporter.stop);
  const tracer = createTracer({
    ratio: config.traceRatio,
    random: Math.random,
    now: clock.now,
    monotonicMs,
    finished: exporter.add,
  });
  const routes = new Map(
    surfaces.flatMap((surface) =>
      surface.operations.map(
        (one) => [fullIdOf(surface, one), surface.basePath + one.path] as const,
      ),
    ),
  );
  return {
    beginTrace: tracer.begin,
    requestEnded(request: FinishedRequest): void {
      const { trace, operation = "" } = request;
      if (trace) tracer.end(trace, { ...request, route: routes.get(operation) });
    },
    /** Spans that were never sent. */
    spansDropped: exporter.dropped,
  };
}
