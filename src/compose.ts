import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "./config.ts";
import { startCheckpoints } from "./domain/checkpoints.ts";
import { createCommitter } from "./domain/commits.ts";
import { ServiceError } from "./domain/errors.ts";
import { createFollower, type Follower } from "./domain/follower.ts";
import { announceKeyChanges, createHeadWatcher, type HeadWatcher } from "./domain/head.ts";
import { keepIdempotencyKeys } from "./domain/key-keeping.ts";
import { createKeyring } from "./domain/keyring.ts";
import type { Clock, Log, Store } from "./domain/ports.ts";
import type { Shop } from "./domain/shop.ts";
import { followTail, type LedgerTail } from "./domain/tail.ts";
import { isInForce } from "./domain/usage.ts";
import { type Deliveries, startDeliveries } from "./domain/webhooks/deliveries.ts";
import { type Engine, openEngine } from "./engines.ts";
import { apiBasePath, apiOperations } from "./http/api/operations.ts";
import { createKeyAuthenticator } from "./http/authentication.ts";
import { createCors } from "./http/cors.ts";
import { referencePages } from "./http/docs/pages.ts";
import { createFeed, type Feed } from "./http/feed/feed.ts";
import { createListBodies } from "./http/list/body.ts";
import { createListEncodings } from "./http/list/encodings.ts";
import { createInventoryList } from "./http/list/list.ts";
import { createReaders } from "./http/list/readers.ts";
import { createObservation, type Observer } from "./http/observe.ts";
import type { Context } from "./http/operation.ts";
import { createPipeline } from "./http/pipeline.ts";
import { routesOf } from "./http/routes.ts";
import { type RunningServer, type Served, startServer } from "./http/server.ts";
import { createSnapshotResponses } from "./http/snapshots/responses.ts";
import type { Surface } from "./http/surface.ts";
import { createAddressLimiter } from "./limits/addresses.ts";
import { packageVersion } from "./version.ts";
import { createWebhookSender } from "./webhooks/sender.ts";

const monotonicMs = () => performance.now();

export interface ServiceOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces the clock of a PostgreSQL server. By default the server's time counts. */
  readonly databaseClock?: Clock;
  /** Called after every request to a surface. */
  readonly observer?: Observer;
  /** Served in addition to the API. */
  readonly surfaces?: readonly Surface[];
}

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
  const engine = await openEngine(options, opened);
  const head = createHeadWatcher(engine.store.inventory, log);
  opened.defer(head.stop);
  const store = announceKeyChanges(engine.store, head);
  const shop = await openShop(options, store, head, engine.patienceMs);
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
  const server = listen(config, {
    surfaces: serveSurfaces(surfaces, options, engine, context, isStopping),
    pages: referencePages(api.operations, { ...config, basePath: api.basePath }),
    // Separate from the limiter of the API: reading its documentation must not use up requests.
    pageLimiter: createAddressLimiter(clock, config.addressPerMinute, config.addressesMax),
    health: {
      isReady: async () => !stopping && keys.isPrepared && (await isReady(engine, context)),
      isStopping,
    },
  });
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

/** Opens the shop and its list, and reads the inventory for the first time. */
async function openShop(
  { config, clock, log }: ServiceOptions,
  store: Store,
  head: HeadWatcher,
  patienceMs: number,
): Promise<Omit<Context, "feed">> {
  const readers = createReaders(config.listHeldBytesMax, monotonicMs, log);
  const versions = createInventoryList({
    chunkEntries: config.listChunkEntries,
    onSuperseded: readers.supersede,
  });
  const follower = createFollower({ ...store.inventory, readHead: head.readHead }, versions, log);
  await firstCatchUp(follower, patienceMs);
  head.subscribe({ rowsCommitted: follower.committed, headMoved: follower.headMoved });
  const bounds = {
    groupMax: config.writesPerGroupMax,
    queueMax: config.writesWaitingMax,
    timeoutMs: config.updateTimeoutMs,
  };
  const committer = createCommitter(store.inventory, bounds, head.committed);
  const encodings = createListEncodings(monotonicMs);
  const bodies = createListBodies(readers, monotonicMs);
  const snapshots = createSnapshotResponses(config.snapshots, monotonicMs, log);
  return {
    store,
    clock,
    head,
    committer,
    follower,
    idempotencyKeptMs: config.idempotencyKeptMs,
    list: { versions, encodings, bodies },
    snapshots,
  };
}

/** A heartbeat is sent after this share of the time after which the server closes an idle connection. */
const heartbeatShare = 0.4;

function openFeed(
  { config, clock, log }: ServiceOptions,
  { usage }: Store,
  tail: LedgerTail,
): Feed {
  const { streamsMax, heartbeatMsMax, stallMs } = config.feed;
  const heartbeatMs = Math.min(heartbeatMsMax, config.idleTimeoutSeconds * 1_000 * heartbeatShare);
  const bounds = { streamsPerKeyMax: config.streamsPerKeyMax, streamsMax, heartbeatMs, stallMs };
  const readBannedKeys = async () =>
    new Set(
      (await usage.loadBans())
        .filter((ban) => isInForce(ban, clock.now()))
        .map(({ keyId }) => keyId),
    );
  return createFeed({ tail, readBannedKeys, bounds, monotonicMs, log });
}

function openDeliveries(
  { config, clock, log }: ServiceOptions,
  { store, isShared }: Engine,
  tail: LedgerTail,
): Deliveries {
  const { timeoutMs, leaseMs, leaseLeftMinMs, renewEveryMs, renewLocallyEveryMs } = config.webhooks;
  const sender = createWebhookSender({
    allowInsecure: config.webhooksAllowInsecure,
    allowedNetworks: config.webhooksAllowedNetworks,
    timeoutMs,
    now: clock.now,
  });
  return startDeliveries({
    store,
    tail,
    sender,
    clock,
    monotonicMs,
    random: Math.random,
    log,
    userAgent: `petstore-inventory/${packageVersion()}`,
    bounds: {
      leaseMs,
      leaseLeftMinMs,
      renewEveryMs: isShared ? renewEveryMs : renewLocallyEveryMs,
    },
  });
}

/** The time between two attempts to read a database that is unavailable at the start. */
const retryMs = 500;

/** Retries while the database is unavailable, for example during a failover. */
async function firstCatchUp(follower: Follower, patienceMs: number): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await follower.catchUp();
    } catch (error) {
      if (follower.fault !== undefined) throw new ServiceError("unavailable", follower.fault);
      const isTemporary = error instanceof ServiceError && error.code === "unavailable";
      if (!isTemporary || performance.now() > giveUpAt) throw error;
      await sleep(retryMs);
    }
  }
}

/** Gives every surface its pipeline. They share the rate limits. */
function serveSurfaces(
  surfaces: readonly Surface[],
  { config, clock, log, observer }: ServiceOptions,
  { limiter }: Engine,
  context: Context,
  isStopping: () => boolean,
): Served["surfaces"] {
  const parts = {
    context,
    limiter,
    addresses: createAddressLimiter(clock, config.addressPerMinute, config.addressesMax),
    cors: createCors(config.corsOrigins),
    observation: observer && createObservation(observer, monotonicMs, log),
    log,
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

function listen(config: Config, served: Served): RunningServer {
  try {
    return startServer(served, config);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const where = `${config.host}:${config.port}`;
    throw new ServiceError("unavailable", `cannot listen on ${where}: ${(error as Error).message}`);
  }
}

/** A follower that is still catching up after this time is busy, not damaged. */
const followerPatienceMs = 1_000;

async function isReady(
  { connect }: Engine,
  { store, committer, follower }: Shop,
): Promise<boolean> {
  if (!(await connect()) || !store.inventory.canWrite() || committer.isStuck) return false;
  try {
    await store.inventory.readHead();
    const late = sleep(followerPatienceMs, undefined, { ref: false });
    await Promise.race([follower.catchUp(), late]);
    return true;
  } catch {
    return false;
  }
}
