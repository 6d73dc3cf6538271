import type { HeadWatcher } from "../domain/head.ts";
import { createKeyring, createSessionKeyring } from "../domain/keyring.ts";
import type { Store } from "../domain/ports.ts";
import type { Engine } from "../engines.ts";
import { createOperatorAuthenticator } from "../http/admin/authentication.ts";
import { adminBasePath, adminHeaders, adminOperations } from "../http/admin/operations.ts";
import { apiBasePath, apiOperations } from "../http/api/operations.ts";
import { createKeyAuthenticator } from "../http/authentication.ts";
import { createCors } from "../http/cors.ts";
import { createObservation } from "../http/observe.ts";
import type { Context } from "../http/operation.ts";
import { createPipeline } from "../http/pipeline.ts";
import { routesOf } from "../http/routes.ts";
import type { Served } from "../http/server.ts";
import type { Surface } from "../http/surface.ts";
import { createAddressLimiter } from "../limits/addresses.ts";
import type { Monitoring } from "./monitoring.ts";
import { monotonicMs, type ServiceOptions } from "./options.ts";

/** A surface without its authentication, which needs a store. */
export type Table = Omit<Surface, "authenticator">;

/** The surfaces of every service. Tests add others. */
export function createTables({ config, clock }: Pick<ServiceOptions, "config" | "clock">) {
  return {
    api: { basePath: apiBasePath, operations: apiOperations(config) },
    admin: {
      name: "admin",
      basePath: adminBasePath,
      operations: adminOperations(config),
      headers: adminHeaders,
      // Separate from the limiter of the API, and lower: these are attempts to sign in.
      addresses: createAddressLimiter(clock, config.signInPerMinute, config.addressesMax),
      isSameOriginOnly: true,
    },
  };
}

/** Adds authentication to the surfaces. */
export function authenticate(
  { api, admin }: ReturnType<typeof createTables>,
  { config, clock }: ServiceOptions,
  store: Store,
  head: HeadWatcher,
): readonly Surface[] {
  const { environment, keysCachedMax: max } = config;
  const keys = createKeyring(store.keys, clock, environment, max);
  const operatorKeys = createKeyring(store.keys, clock, environment, max, "operator");
  const sessions = createSessionKeyring(store.sessions, clock, max);
  for (const { clear } of [keys, operatorKeys, sessions]) head.subscribe({ keysChanged: clear });
  return [
    { ...api, authenticator: createKeyAuthenticator(keys) },
    {
      ...admin,
      authenticator: createOperatorAuthenticator(operatorKeys, sessions, environment),
    },
  ];
}

/** Gives every surface its pipeline. They share the rate limits. */
export function serveSurfaces(
  surfaces: readonly Surface[],
  { config, clock, log }: ServiceOptions,
  { limiter }: Engine,
  context: Context,
  monitoring: Monitoring,
  isStopping: () => boolean,
): Served["surfaces"] {
  const parts = {
    context,
    limiter,
    addresses: createAddressLimiter(clock, config.addressPerMinute, config.addressesMax),
    cors: createCors(config.corsOrigins),
    observation: createObservation(monitoring.observers, monotonicMs, log),
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
