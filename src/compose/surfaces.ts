import type { RequestRecorder } from "../domain/requests/recorder.ts";
import { monotonicMs } from "../domain/running/background.ts";
import type { UsageRecorder } from "../domain/usage/usage-recorder.ts";
import { adminBasePath } from "../http/admin/operations.ts";
import type { Context } from "../http/pipeline/context.ts";
import { createCors } from "../http/pipeline/cors.ts";
import { createFailingRequests } from "../http/pipeline/failing-requests.ts";
import { createObservation, type Observers } from "../http/pipeline/observe.ts";
import { createPipeline } from "../http/pipeline/pipeline.ts";
import { recordRefused } from "../http/pipeline/refused-requests.ts";
import { createRequestLog } from "../http/pipeline/request-log.ts";
import { routesOf } from "../http/pipeline/routes.ts";
import type { Surface } from "../http/pipeline/surface.ts";
import type { Served } from "../http/server/server.ts";
import { createAddressLimiter } from "../limits/addresses.ts";
import type { Engine } from "../opening/engines.ts";
import type { Metrics } from "./metrics.ts";
import type { ServiceOptions } from "./options.ts";
import type { Traces } from "./traces.ts";

/** Gives every surface its pipeline. They share the rate limits. */
export function serveSurfaces(
  surfaces: readonly Surface[],
  { config, clock, log }: ServiceOptions,
  { limiter }: Engine,
  context: Context,
  observers: Observers,
  usage: Pick<UsageRecorder, "count">,
  stopping: AbortSignal,
): Served["surfaces"] {
  const parts = {
    context,
    limiter,
    addresses: createAddressLimiter(clock, config.addressPerMinute, config.addressesMax),
    cors: createCors(config.corsOrigins),
    observation: createObservation(observers, monotonicMs, log),
    usage,
    stopping,
  };
  const served = surfaces.map((surface) => ({
    basePath: surface.basePath,
    routes: routesOf(surface),
    pipeline: createPipeline(surface, parts),
  }));
  rejectSharedPaths(served);
  return served;
}

/** If two surfaces had the same path, one would replace the other's authentication there. */
function rejectSharedPaths(surfaces: Served["surfaces"]): void {
  const taken = new Set<string>();
  for (const { basePath, routes } of surfaces) {
    for (const path of new Set([basePath, ...routes.map(({ pattern }) => pattern)])) {
      const shape = path.replace(/:\w+/g, ":");
      if (taken.has(shape)) throw new Error(`two surfaces have the path ${path}`);
      taken.add(shape);
    }
  }
}

/**
 * Opens what observes the requests of a service, for logs, metrics, traces and those who ask what became of
 * a request. `opened` closes it.
 */
export function openObservers(
  { config, observer, log, requestLines }: ServiceOptions,
  metrics: Metrics | undefined,
  traces: Traces | undefined,
  { states }: Pick<Engine, "states">,
  requests: RequestRecorder,
  opened: AsyncDisposableStack,
): Observers {
  const failing = createFailingRequests(log, config.failuresQuietMs, states);
  opened.defer(failing.stop);
  const requestLog = requestLines && createRequestLog(config.logRequests, requestLines);
  const all = [requestLog, traces?.requestEnded, observer];
  return {
    observers: all.filter((one) => one !== undefined),
    counter: metrics?.requestEnded,
    beginTrace: traces?.beginTrace,
    errorObservers: [failing.observe, recordRefused(requests, `${adminBasePath}/`)],
  };
}
