import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "./config.ts";
import { createCommitter } from "./domain/commits.ts";
import { Refusal } from "./domain/errors.ts";
import { createFollower, type Follower } from "./domain/follower.ts";
import { announceKeyChanges, createHeadWatcher, type HeadWatcher } from "./domain/head.ts";
import { createKeyring } from "./domain/keyring.ts";
import type { Clock, Limiter, Log, Store } from "./domain/ports.ts";
import { operations } from "./http/api/operations.ts";
import type { Context } from "./http/call.ts";
import { createCors } from "./http/cors.ts";
import { referencePages } from "./http/docs/pages.ts";
import { createSender } from "./http/list/body.ts";
import { createCodings } from "./http/list/encodings.ts";
import { createListing } from "./http/list/list.ts";
import { createReaders } from "./http/list/readers.ts";
import type { PageCount } from "./http/pages.ts";
import { createPipeline, type Pipeline } from "./http/pipeline.ts";
import { routesOf } from "./http/routes.ts";
import { type Health, type RunningServer, startServer } from "./http/server.ts";
import { createAddressLimiter } from "./limits/addresses.ts";
import { createLocalLimiter } from "./limits/local.ts";
import { createSharedLimiter } from "./limits/shared.ts";
import { createDatabase } from "./store/postgres/engine/database.ts";
import { openPostgres } from "./store/postgres/store.ts";
import { createSharedUsage } from "./store/postgres/usage.ts";
import { lockForServing } from "./store/sqlite/engine/serving-lock.ts";
import { openSqlite } from "./store/sqlite/store.ts";

const monotonicMs = () => performance.now();

export const systemClock: Clock = { now: () => Date.now() };

export interface Service {
  /** The base address of the API, ending in /v1. */
  readonly baseUrl: string;
  readonly store: Store;
  stop(): Promise<void>;
}

/** Opens the store a database address names, for a command that does one thing and ends. */
export function openStore(config: Config, clock: Clock): Promise<Store> {
  const { databaseUrl, environment } = config;
  const path = sqlitePath(config);
  return path === undefined
    ? openPostgres({ database: createDatabase(databaseUrl), environment, patienceMs: 0 })
    : openSqlite({ path, environment, clock, threaded: false });
}

/** Makes sure that nobody serves from a file while it is moved; gives what ends the claim. */
export function claimStore(config: Config): () => void {
  const path = sqlitePath(config);
  return path === undefined ? () => {} : lockForServing(path);
}

/** The file a database address names; undefined for a database on a server. */
function sqlitePath({ databaseUrl }: Config): string | undefined {
  if (!databaseUrl.startsWith("sqlite:")) return undefined;
  return resolve(databaseUrl.slice("sqlite:".length).replace(/^\/\/(?=\/)/, ""));
}

/** What an engine brings: where things are kept, and who counts requests. */
interface Engine {
  readonly store: Store;
  readonly limiter: Limiter;
  /** Opens every connection that is not open; false if one cannot be. */
  connect?(): Promise<boolean>;
}

/** One process on one file: it counts in memory, and no second one may serve from it. */
async function openForOne(
  path: string,
  config: Config,
  clock: Clock,
  log: Log,
  opened: AsyncDisposableStack,
): Promise<Engine> {
  opened.defer(lockForServing(path));
  const { environment } = config;
  const store = await openSqlite({ path, environment, clock, threaded: true, log });
  opened.defer(() => store.close());
  const limiter = await createLocalLimiter({ usage: store.usage, clock, rules: config.ban, log });
  opened.defer(() => limiter.close());
  return { store, limiter };
}

/** How long a start waits before it asks a database again that did not answer. */
const retryMs = 500;

/** How long a request waits to be counted before it is answered 503. */
const limiterDeadlineMs = 2_000;

/**
 * Many processes on one database: they count in it, by its clock. A database that is still
 * starting is waited for, because machines that start together start in any order.
 */
async function openForMany(
  config: Config,
  clock: Clock | undefined,
  log: Log,
  opened: AsyncDisposableStack,
): Promise<Engine> {
  const database = createDatabase(config.databaseUrl, log);
  const { environment, ban: rules, databasePatienceMs: patienceMs } = config;
  const store = await openPostgres({ database, environment, clock, patienceMs });
  opened.defer(() => store.close());
  const { query } = database.connection(limiterDeadlineMs);
  const usage = createSharedUsage(query, clock);
  const limiter = createSharedLimiter({ usage, rules, log });
  opened.defer(() => limiter.close());
  database.watch();
  return { store, limiter, connect: database.openConnections };
}

/** What operations work with, its copy of the inventory brought up to date. */
async function openShop(
  config: Config,
  clock: Clock,
  store: Store,
  head: HeadWatcher,
  log: Log,
  patienceMs: number,
): Promise<Context> {
  const readers = createReaders(config.listHeldBytesMax, monotonicMs, log);
  const listing = createListing({
    chunkEntries: config.listChunkEntries,
    onSuperseded: readers.supersede,
  });
  const follower = createFollower({ ...store.inventory, readHead: head.readHead }, listing, log);
  await firstCatchUp(follower, patienceMs);
  head.subscribe({ rowsCommitted: follower.committed, headMoved: follower.headMoved });
  const committer = createCommitter(
    store.inventory,
    {
      groupMax: config.writesPerGroupMax,
      queueMax: config.writesWaitingMax,
      answerMsMax: config.updateAnswerMsMax,
    },
    head.committed,
  );
  return {
    store,
    clock,
    head,
    committer,
    follower,
    listing,
    codings: createCodings(monotonicMs),
    sender: createSender(readers, monotonicMs),
    petsSunsetAt: config.petsSunsetAt,
    bodyBytesMax: config.bodyBytesMax,
  };
}

/** Reads the inventory for the first time. A database that fails over meanwhile is asked again. */
async function firstCatchUp(follower: Follower, patienceMs: number): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await follower.catchUp();
    } catch (error) {
      if (follower.fault !== undefined) throw new Refusal("unavailable", follower.fault);
      const isPassing = error instanceof Refusal && error.code === "unavailable";
      if (!isPassing || performance.now() > giveUpAt) throw error;
      await sleep(retryMs);
    }
  }
}

/**
 * Config in, running service out. `databaseClock` stands in for the clock of a database that
 * several instances share; without it the database's own time counts.
 */
export async function startService(
  config: Config,
  clock: Clock,
  log: Log,
  databaseClock?: Clock,
): Promise<Service> {
  // What was opened is closed in reverse order, also when a later step fails: a writing thread
  // left behind would keep the process from ending.
  await using opened = new AsyncDisposableStack();
  const path = sqlitePath(config);
  const {
    store: opening,
    limiter,
    connect,
  } = path === undefined
    ? await openForMany(config, databaseClock, log, opened)
    : await openForOne(path, config, clock, log, opened);
  const patienceMs = path === undefined ? config.databasePatienceMs : 0;
  const head = createHeadWatcher(opening.inventory, log);
  opened.defer(head.stop);
  const store = announceKeyChanges(opening, head);
  const shop = await openShop(config, clock, store, head, log, patienceMs);
  // Before anybody asks. What cannot be opened yet keeps /readyz red, and is tried again.
  await connect?.();
  const keyring = createKeyring(store.keys, clock, config.environment, config.keysRememberedMax);
  head.subscribe({ keysChanged: keyring.forget });
  head.subscribe({ keysChanged: limiter.refresh });
  const addresses = createAddressLimiter(clock, config.addressPerMinute, config.addressesMax);
  const cors = createCors(config.corsOrigins);
  let stopping = false;
  const isStopping = () => stopping;
  const pipeline = createPipeline({ shop, keyring, limiter, addresses, cors, log, isStopping });
  const isReady = async () => !stopping && (await connect?.()) !== false && (await isUsable(shop));
  // A count of their own: reading about the API and failing to use it are two things.
  const pageCount = createAddressLimiter(clock, config.addressPerMinute, config.addressesMax);
  const server = listen(config, pipeline, pageCount, { isReady, isStopping });
  const parts = opened.move();

  return {
    baseUrl: new URL("v1", server.url).href,
    store,
    async stop() {
      stopping = true;
      await server.stop(config.drainMs, config.stopGraceMs);
      await shop.committer.idle();
      await parts.disposeAsync();
    },
  };
}

function listen(
  config: Config,
  pipeline: Pipeline,
  pageCount: PageCount,
  health: Health,
): RunningServer {
  const routes = routesOf(operations, config.petsSunsetAt);
  const pages = referencePages(operations, config);
  try {
    return startServer({ pipeline, routes, pages, pageCount, health }, config);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const where = `${config.host}:${config.port}`;
    throw new Refusal("unavailable", `cannot listen on ${where}: ${(error as Error).message}`);
  }
}

/** A follower that still catches up after this is at work, not damaged. */
const followerPatienceMs = 1_000;

async function isUsable({ store, committer, follower }: Context): Promise<boolean> {
  if (!store.inventory.canWrite() || committer.isStuck) return false;
  try {
    await store.inventory.readHead();
    const late = sleep(followerPatienceMs, undefined, { ref: false });
    await Promise.race([follower.catchUp(), late]);
    return true;
  } catch {
    return false;
  }
}
