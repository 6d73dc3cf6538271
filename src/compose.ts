import { setTimeout as sleep } from "node:timers/promises";
import { openAdmin } from "./compose/admin.ts";
import { openBackups } from "./compose/backups.ts";
import { openDeliveries } from "./compose/deliveries.ts";
import { openFeed } from "./compose/feed.ts";
import { listen, openTls, warnOfPlainHttp } from "./compose/listen.ts";
import { openLongWork } from "./compose/long-work.ts";
import { openMetrics } from "./compose/metrics.ts";
import type { ServiceOptions } from "./compose/options.ts";
import { isReady } from "./compose/readiness.ts";
import { openShop } from "./compose/shop.ts";
import { openObservers, serveSurfaces } from "./compose/surfaces.ts";
import { authenticate, createTables, type Table } from "./compose/tables.ts";
import { openTraces } from "./compose/traces.ts";
import { createHeadWatcher } from "./domain/ledger/head.ts";
import { keepIdempotencyKeys } from "./domain/ledger/idempotency-keeping.ts";
import { followTail } from "./domain/ledger/tail.ts";
import { createRequestRecorder } from "./domain/requests/recorder.ts";
import { shared } from "./domain/running/background.ts";
import type { Log } from "./domain/running/events.ts";
import { followSales } from "./domain/sales/sales.ts";
import { announceKeyChanges } from "./domain/shop/key-announcements.ts";
import { startCheckpoints } from "./domain/snapshots/checkpoints.ts";
import type { Store } from "./domain/store.ts";
import { createUsageRecorder } from "./domain/usage/usage-recorder.ts";
import { adminPages } from "./http/admin/contract/document.ts";
import { consolePages } from "./http/console/console-pages.ts";
import { referencePages } from "./http/docs/reference-pages.ts";
import type { Context } from "./http/pipeline/context.ts";
import { fullIdOf } from "./http/pipeline/surface.ts";
import { type Served, startServer } from "./http/server/server.ts";
import { createAddressLimiter } from "./limits/addresses.ts";
import { type Engine, openEngine } from "./opening/engines.ts";

export interface Service {
  /** The base address of the API, ending in /v1. */
  readonly baseUrl: string;
  /** The address of the metrics; undefined without them. */
  readonly metricsUrl: string | undefined;
  readonly store: Store;
  readonly engine: Pick<Engine, "name">;
  /** The log that the service was given. It also counts the events. */
  readonly log: Log;
  stop(): Promise<void>;
}

/** How long a start waits for idempotency keys before it listens. */
const preparePatienceMs = 500;

/** Starts the service: engine, head watcher, shop, surfaces, server. */
export async function startService(given: ServiceOptions): Promise<Service> {
  const { config, clock } = given;
  // Closes what was opened in reverse order, also when a later step fails: a writer thread that is
  // left behind would keep the process alive.
  await using opened = new AsyncDisposableStack();
  const tables = createTables(given);
  const { api, admin, mcp } = tables;
  const described: readonly Table[] = [api, admin, ...mcp, ...(given.surfaces ?? [])];
  const operationIds = described.flatMap((surface) =>
    surface.operations.map((operation) => fullIdOf(surface, operation)),
  );
  const metrics = await openMetrics(given, operationIds, opened);
  const log = metrics?.log ?? given.log;
  const options = { ...given, log };
  const certificate = await openTls(options);
  if (certificate) opened.defer(certificate.stop);
  const traces = await openTraces(options, described, opened);
  const engine = await openEngine(options, opened);
  const head = createHeadWatcher(engine.store.inventory, log, engine.states.readEnded);
  opened.defer(head.stop);
  const store = announceKeyChanges(engine.store, head);
  const onGroup = [engine.states.groupEnded, ...(metrics ? [metrics.groupEnded] : [])];
  const shop = await openShop(options, store, head, engine, onGroup);
  const keys = keepIdempotencyKeys(store, clock, engine.idempotencyReachMs, log);
  opened.defer(keys.stop);
  // Millions of keys take seconds. The service listens meanwhile, but is not ready.
  await Promise.race([keys.firstAttempt, sleep(preparePatienceMs)]);
  const tail = await followTail(store, head, log);
  opened.defer(tail.stop);
  const feed = openFeed(options, store, tail);
  opened.defer(feed.close);
  const usage = createUsageRecorder(store.usageHistory, clock, log);
  opened.defer(usage.stop);
  const lastSeq = () => tail.seq;
  const requests = createRequestRecorder(store, clock, lastSeq, log);
  opened.defer(requests.stop);
  const stop = new AbortController();
  const stopping = stop.signal;
  // Readiness requests at the same time share one check.
  const look = shared(() => isReady(engine, context));
  const isServing = async () => !stopping.aborted && keys.isPrepared() && (await look());
  const work = openLongWork(options, store, engine.applyStaged);
  const backups = openBackups(options, store);
  opened.defer(work.stop);
  opened.defer(backups.stop);
  const parts = openAdmin(options, store, engine, certificate, isServing, {
    work,
    backups,
    usage,
    stopping,
  });
  const context: Context = { ...shop, feed, requests, admin: parts };
  opened.defer(startCheckpoints({ store, log, rowsMin: config.checkpointRowsMin }).stop);
  opened.defer(followSales(store, lastSeq, log).stop);
  // Before the first request. Connections that fail now keep /readyz at 503 and are retried.
  await engine.connect();
  opened.defer(openDeliveries(options, engine, tail, metrics).stop);
  const observers = openObservers(options, metrics, traces, engine, requests, opened);
  const surfaces = [
    ...authenticate(tables, options, store, head, opened),
    ...(options.surfaces ?? []),
  ];
  head.subscribe({ keysChanged: engine.limiter.refresh });
  if (metrics) opened.defer(metrics.watch({ engine, context, certificate, traces, stopping }));
  const served: Served = {
    surfaces: serveSurfaces(surfaces, options, engine, context, observers, usage, stopping),
    pages: {
      ...referencePages(api.operations, { ...config, basePath: api.basePath }),
      ...adminPages(admin.operations),
      ...consolePages(config.environment, () => log("console missing")),
    },
    // Separate from the limiter of the API: reading its documentation must not use up requests.
    pageLimiter: createAddressLimiter(clock, config.addressPerMinute, config.addressesMax),
    health: { isReady: isServing, stopping },
  };
  const server = await listen(config.host, config.port, () =>
    startServer(served, config, certificate),
  );
  warnOfPlainHttp(options);
  const running = opened.move();

  return {
    baseUrl: new URL(api.basePath, server.url).href,
    metricsUrl: metrics?.url,
    store,
    engine,
    log,
    async stop() {
      stop.abort();
      feed.close();
      // Either can take longer than the grace period. The requests that wait for them get 503.
      const ended = Promise.all([work.stop(), backups.stop()]);
      await server.stop(config.drainMs, config.stopGraceMs);
      await ended;
      await context.committer.idle();
      await running.disposeAsync();
    },
  };
}
