import { setTimeout as sleep } from "node:timers/promises";
import { openDeliveries } from "./compose/deliveries.ts";
import { openFeed } from "./compose/feed.ts";
import { createMonitoring } from "./compose/monitoring.ts";
import type { ServiceOptions } from "./compose/options.ts";
import { isReady } from "./compose/readiness.ts";
import { openShop } from "./compose/shop.ts";
import { serveSurfaces } from "./compose/surfaces.ts";
import { openTls } from "./compose/tls.ts";
import type { Config } from "./config.ts";
import { startCheckpoints } from "./domain/checkpoints.ts";
import { ServiceError } from "./domain/errors.ts";
import { announceKeyChanges, createHeadWatcher } from "./domain/head.ts";
import { keepIdempotencyKeys } from "./domain/key-keeping.ts";
import { createKeyring } from "./domain/keyring.ts";
import type { Store } from "./domain/ports.ts";
import { followTail } from "./domain/tail.ts";
import { openEngine } from "./engines.ts";
import { apiBasePath, apiOperations } from "./http/api/operations.ts";
import { createKeyAuthenticator } from "./http/authentication.ts";
import { referencePages } from "./http/docs/pages.ts";
import { type RunningServer, type Served, startServer } from "./http/server.ts";
import type { Certificate } from "./http/tls/certificate.ts";
import { createAddressLimiter } from "./limits/addresses.ts";

export interface Service {
  /** The base address of the API, ending in /v1. */
  readonly baseUrl: string;
  readonly store: Store;
  stop(): Promise<void>;
}

/** How long a start waits for idempotency keys before it listens. */
const preparePatienceMs = 500;

/** Starts the service: engine, head watcher, shop, surfaces, server. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log } = options;
  // Closes what was opened in reverse order, also when a later step fails: a writer thread that is
  // left behind would keep the process alive.
  await using opened = new AsyncDisposableStack();
  const certificate = await openTls(options);
  if (certificate) opened.defer(certificate.stop);
  const engine = await openEngine(options, opened);
  const head = createHeadWatcher(engine.store.inventory, log);
  opened.defer(head.stop);
  const store = announceKeyChanges(engine.store, head);
  const monitoring = createMonitoring(options);
  const shop = await openShop(options, store, head, engine.patienceMs, monitoring);
  const keys = keepIdempotencyKeys(store.idempotency, clock, config.idempotencyKeptMs, log);
  opened.defer(keys.stop);
  // Millions of keys take seconds. The service listens meanwhile, but is not ready.
  await Promise.race([keys.firstAttempt, sleep(preparePatienceMs)]);
  const tail = await followTail(store, head, log);
  opened.defer(tail.stop);
  const feed = openFeed(options, store, tail);
  opened.defer(feed.close);
  const context = { ...shop, feed };
  opened.defer(startCheckpoints({ store, log, rowsMin: config.checkpointRowsMin }).stop);
  // Before the first request. Connections that fail now keep /readyz at 503 and are retried.
  await engine.connect();
  opened.defer(openDeliveries(options, engine, tail).stop);
  const keyring = createKeyring(store.keys, clock, config.environment, config.keysCachedMax);
  head.subscribe({ keysChanged: keyring.clear });
  head.subscribe({ keysChanged: engine.limiter.refresh });
  const api = {
    basePath: apiBasePath,
    authenticator: createKeyAuthenticator(keyring),
    operations: apiOperations(config),
  };
  let stopping = false;
  const isStopping = () => stopping;
  const surfaces = [api, ...(options.surfaces ?? [])];
  const served: Served = {
    surfaces: serveSurfaces(surfaces, options, engine, context, monitoring, isStopping),
    pages: referencePages(api.operations, { ...config, basePath: api.basePath }),
    // Separate from the limiter of the API: reading its documentation must not use up requests.
    pageLimiter: createAddressLimiter(clock, config.addressPerMinute, config.addressesMax),
    health: {
      isReady: async () => !stopping && keys.isPrepared && (await isReady(engine, context)),
      isStopping,
    },
  };
  const server = await listen(config, served, certificate);
  const parts = opened.move();

  return {
    baseUrl: new URL(api.basePath, server.url).href,
    store,
    async stop() {
      stopping = true;
      feed.close();
      await server.stop(config.drainMs, config.stopGraceMs);
      await context.committer.idle();
      await parts.disposeAsync();
    },
  };
}

async function listen(
  config: Config,
  served: Served,
  certificate: Certificate | undefined,
): Promise<RunningServer> {
  try {
    return await startServer(served, config, certificate);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const where = `${config.host}:${config.port}`;
    throw new ServiceError("unavailable", `cannot listen on ${where}: ${(error as Error).message}`);
  }
}
