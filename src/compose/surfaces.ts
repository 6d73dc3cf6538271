import type { UsageRecorder } from "../domain/usage/usage-recorder.ts";
import type { Engine } from "../engines.ts";
import type { Context } from "../http/pipeline/context.ts";
import { createCors } from "../http/pipeline/cors.ts";
import { createObservation } from "../http/pipeline/observe.ts";
import { createPipeline } from "../http/pipeline/pipeline.ts";
import { routesOf } from "../http/pipeline/routes.ts";
import type { Surface } from "../http/pipeline/surface.ts";
import type { Served } from "../http/server/server.ts";
import { createAddressLimiter } from "../limits/addresses.ts";
import type { Monitoring } from "./monitoring.ts";
import { monotonicMs, type ServiceOptions } from "./options.ts";

/** Gives every surface its pipeline. They share the rate limits. */
export function serveSurfaces(
  surfaces: readonly Surface[],
  { config, clock, log }: ServiceOptions,
  { limiter }: Engine,
  context: Context,
  monitoring: Monitoring,
  usage: Pick<UsageRecorder, "count">,
  isStopping: () => boolean,
): Served["surfaces"] {
  const parts = {
    context,
    limiter,
    addresses: createAddressLimiter(clock, config.addressPerMinute, config.addressesMax),
    cors: createCors(config.corsOrigins),
    observation: createObservation(monitoring.observers, monotonicMs, log),
    usage,
    isStopping,
  };
  const served = surfaces.map((surface) => ({
    basePath: surface.basePath,
    routes: routesOf(surface),
    pipeline: createPipeline(surface, parts),
  }));
  rejectSharedPaths(served);
  return served;
}

/** Of two surfaces with the same path, one would replace the other's authentication there. */
function rejectSharedPaths(surfaces: Served["surfaces"]): void {
  const taken = new Set<string>();
  for (const { basePath, routes } of surfaces) {
    for (const path of [basePath, ...routes.map(({ pattern }) => pattern)]) {
      const shape = path.replace(/:\w+/g, ":");
      if (taken.has(shape)) throw new Error(`two surfaces have the path ${path}`);
      taken.add(shape);
    }
  }
}
