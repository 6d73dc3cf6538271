import { resolve } from "node:path";
import type { Shop } from "./api/call.ts";
import { createCodings } from "./api/codings.ts";
import { createCors } from "./api/cors.ts";
import { createListing } from "./api/listing.ts";
import { operations } from "./api/operations.ts";
import { createPipeline } from "./api/pipeline.ts";
import { referencePages } from "./api/reference/pages.ts";
import { routesOf } from "./api/routes.ts";
import { createSender } from "./api/sending.ts";
import { type RunningServer, startServer } from "./api/server.ts";
import type { Config } from "./config.ts";
import { createCommitter } from "./domain/commits.ts";
import { Refusal } from "./domain/errors.ts";
import { createFollower } from "./domain/follower.ts";
import { createKeyring } from "./domain/keyring.ts";
import type { Clock, Store } from "./domain/ports.ts";
import { createAddressLimiter } from "./limits/addresses.ts";
import { createLocalLimiter } from "./limits/local.ts";
import type { Log } from "./log.ts";
import { claimForServing, openSqlite } from "./store/sqlite/store.ts";

export const systemClock: Clock = { now: () => Date.now() };

export interface Service {
  /** The base address of the API, ending in /v1. */
  readonly baseUrl: string;
  readonly store: Store;
  stop(): Promise<void>;
}

/** Opens the store a database address names. */
export function openStore(config: Config, clock: Clock, threaded: boolean): Promise<Store> {
  return openSqlite({
    path: sqlitePath(config.databaseUrl),
    environment: config.environment,
    clock,
    threaded,
  });
}

/** Config in, running service out. */
export async function startService(config: Config, clock: Clock, log: Log): Promise<Service> {
  // What was opened is closed in reverse order, also when a later step fails: a writing thread
  // left behind would keep the process from ending.
  await using opened = new AsyncDisposableStack();
  opened.defer(claimForServing(sqlitePath(config.databaseUrl)));
  const store = await openStore(config, clock, true);
  opened.defer(() => store.close());
  const limiter = await createLocalLimiter({ journal: store, clock, rules: config.ban, log });
  opened.defer(() => limiter.close());
  const listing = createListing({
    chunkEntries: config.listChunkEntries,
    heldBytesMax: config.listHeldBytesMax,
  });
  const follower = createFollower(store, listing);
  await follower.catchUp();
  const committer = createCommitter(
    store,
    { groupMax: config.writesPerGroupMax, queueMax: config.writesWaitingMax },
    (outcomes) => follower.committed(outcomes),
  );
  const shop: Shop = {
    store,
    clock,
    committer,
    follower,
    listing,
    codings: createCodings(),
    sender: createSender(listing, () => performance.now()),
    petsSunsetAt: config.petsSunsetAt,
    bodyBytesMax: config.bodyBytesMax,
  };
  const keyring = createKeyring(store, clock, config.environment, config.keysRememberedMax);
  const addresses = createAddressLimiter(clock, config.addressPerMinute, config.addressesMax);
  const cors = createCors(config.corsOrigins);
  const pipeline = createPipeline({ shop, keyring, limiter, addresses, cors, log });
  let stopping = false;
  const server = listen();
  const parts = opened.move();

  return {
    baseUrl: new URL("v1", server.url).href,
    store,
    async stop() {
      stopping = true;
      await server.stop(config.stopGraceMs);
      await committer.idle();
      await parts.disposeAsync();
    },
  };

  function listen(): RunningServer {
    try {
      return startServer(
        pipeline,
        routesOf(operations, config.petsSunsetAt),
        referencePages(operations, config),
        isReady,
        config,
      );
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const where = `${config.host}:${config.port}`;
      throw new Refusal("unavailable", `cannot listen on ${where}: ${(error as Error).message}`);
    }
  }

  async function isReady(): Promise<boolean> {
    if (stopping) return false;
    try {
      await store.look();
      return true;
    } catch {
      return false;
    }
  }
}

function sqlitePath(databaseUrl: string): string {
  if (!databaseUrl.startsWith("sqlite:")) {
    throw new Refusal("invalid_request", "only sqlite: databases are supported so far");
  }
  return resolve(databaseUrl.slice("sqlite:".length).replace(/^\/\/(?=\/)/, ""));
}
