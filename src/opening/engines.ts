import type { Config } from "../config.ts";
import type { GroupingBounds } from "../domain/commits/groups.ts";
import type { Limiter } from "../domain/limits/limits.ts";
import { createStoreStates, type StoreStates } from "../domain/operations/store-states.ts";
import { isUnavailable } from "../domain/running/background.ts";
import type { Clock } from "../domain/running/clock.ts";
import type { Log } from "../domain/running/events.ts";
import type { Store } from "../domain/store.ts";
import {
  type ClockWatchOptions,
  createClockWatch,
  gapAt,
  watchClock,
} from "../domain/usage/clock-watch.ts";
import { createLocalLimiter } from "../limits/local.ts";
import { createSharedLimiter } from "../limits/shared.ts";
import type { Database } from "../store/postgres/engine/database.ts";
import { schemaNumber } from "../store/schema.ts";
import { assertStore } from "../store/sqlite/engine/existence.ts";
import { filesOf, type StoreFiles } from "../store/sqlite/engine/files.ts";
import type { LostRows } from "../store/sqlite/engine/mark.ts";
import { lockForServing } from "../store/sqlite/engine/serving-lock.ts";
import type { ApplyStaged } from "../store/sqlite/ports.ts";
import { openOrCreate } from "./creation.ts";
import { namingFile, sqlitePath } from "./store-file.ts";

export const systemClock: Clock = { now: () => Date.now(), elapsedMs: () => performance.now() };

// A process loads only the engine that it opens, so that commands start fast.
export const loadSqlite = () => import("../store/sqlite/store.ts");
export const loadPostgres = async () => ({
  ...(await import("../store/postgres/store.ts")),
  ...(await import("../store/postgres/engine/database.ts")),
});

/** A store and the rate limiter that fits it. */
export interface Engine {
  readonly name: "SQLite" | "PostgreSQL";
  /** Logs when the store is lost and back. */
  readonly states: StoreStates;
  readonly store: Store;
  /** Applies what a process of the service has staged. On PostgreSQL, that process writes by itself. */
  readonly applyStaged?: ApplyStaged;
  readonly limiter: Limiter;
  /** Whether other processes may serve the same store. */
  readonly isShared: boolean;
  /** How updates form groups. */
  readonly grouping: GroupingBounds;
  /** How long the first read of the inventory is retried if the database is unavailable. */
  readonly patienceMs: number;
  /** How old idempotency keys that are kept may be. Times that a clock skipped do not count. */
  idempotencyReachMs(): number;
  /** Opens every connection that is not open. Returns false if one cannot be opened. */
  connect(): Promise<boolean>;
  readonly figures: EngineFigures;
  /** The acknowledged rows that the store lacked at its start, if that was accepted. */
  readonly lostRows?: LostRows | undefined;
}

/** What metrics show of an engine. */
export type EngineFigures =
  | { readonly engine: "sqlite"; readonly files: Pick<StoreFiles, "database" | "wal"> }
  | ({ readonly engine: "postgres" } & Pick<Database, "traffic" | "countConnections">);

export interface EngineOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly databaseClock?: Clock | undefined;
  readonly log: Log;
  /** The last row of a store that lacks acknowledged rows, if it is served nevertheless. */
  readonly acceptOlder?: number | undefined;
}

/** Opens the engine that the database address names. `opened` closes it. */
export function openEngine(options: EngineOptions, opened: AsyncDisposableStack): Promise<Engine> {
  const path = sqlitePath(options.config);
  return path === undefined
    ? openPostgresEngine(options, opened)
    : openSqliteEngine(path, options, opened);
}

/** Only one process may serve from a SQLite file, so it counts requests in memory. */
async function openSqliteEngine(
  path: string,
  options: EngineOptions,
  opened: AsyncDisposableStack,
): Promise<Engine> {
  const { config, clock, log, acceptOlder } = options;
  const { environment } = config;
  const isCopied = config.replicaCheck !== undefined;
  const { openSqlite } = await loadSqlite();
  const events = {
    onCreated: () => log("store created", { store: path, schema: schemaNumber }),
    onUncertain(lost: LostRows | "unmarked") {
      if (lost === "unmarked") return log("mark missing", { store: path });
      lostRows = lost;
      log("older store accepted", { store: path, ...lost });
    },
  };
  let lostRows: LostRows | undefined;
  const opening = { path, environment, clock, threaded: true, isCopied, log, acceptOlder };
  const store = await openOrCreate(config, (mayCreate) =>
    namingFile(path, async () => {
      // Before the lock, which creates the file.
      if (!mayCreate) assertStore(path);
      opened.defer(lockForServing(path));
      return openSqlite({ ...opening, ...events });
    }),
  );
  opened.defer(() => store.close());
  const { canWrite } = store.inventory;
  const states = createStoreStates({ log, isShared: false, canWrite });
  const usage = states.observeUsage(store.usage);
  const limiter = await createLocalLimiter({ usage, clock, rules: config.ban, log });
  opened.defer(() => limiter.close());
  const { reachMs } = await watchOwnClock(options, store, opened);
  return {
    name: "SQLite",
    states,
    store,
    applyStaged: store.applyStaged,
    limiter,
    isShared: false,
    grouping: { transactionsMax: 1, overlapMin: 0, callersMax: 0, waitMsMax: 0 },
    patienceMs: 0,
    idempotencyReachMs: reachMs,
    connect: async () => true,
    figures: { engine: "sqlite", files: filesOf(path) },
    lostRows,
  };
}

/** A request that has not been counted after this time receives 503. */
const limiterDeadlineMs = 2_000;

/**
 * Several processes share a PostgreSQL database, so they count requests in it, by its clock. A
 * database that is still starting is retried, because machines that start together start in any
 * order.
 */
async function openPostgresEngine(
  options: EngineOptions,
  opened: AsyncDisposableStack,
): Promise<Engine> {
  const { config, databaseClock: clock, log } = options;
  const { createDatabase, openPostgres } = await loadPostgres();
  const { createSharedUsage } = await import("../store/postgres/usage.ts");
  const database = createDatabase(config.databaseUrl, log);
  const { environment, ban: rules, databasePatienceMs: patienceMs } = config;
  const events = {
    onCreated: () => log("store created", { store: database.label, schema: schemaNumber }),
  };
  const opening = { database, environment, clock, patienceMs, log, ...events };
  const store = await openOrCreate(config, (mayCreate) => openPostgres({ ...opening, mayCreate }));
  opened.defer(() => store.close());
  const { query } = database.connection(limiterDeadlineMs);
  const usage = createSharedUsage(query, clock);
  const own = await watchOwnClock(options, store, opened);
  const serverTime = createClockWatch({ ...own.options, name: "database server" });
  const limiter = createSharedLimiter({ usage, rules, serverTime, log });
  opened.defer(() => limiter.close());
  database.watch();
  const { canWrite } = store.inventory;
  const { traffic, countConnections, openConnections: connect } = database;
  return {
    name: "PostgreSQL",
    states: createStoreStates({ log, isShared: true, canWrite }),
    store,
    limiter,
    isShared: true,
    // A transaction costs the database as much as about 32 updates in it.
    grouping: { transactionsMax: 3, overlapMin: 16, callersMax: 32, waitMsMax: 5 },
    patienceMs,
    idempotencyReachMs: () => Math.max(own.reachMs(), serverTime.reachMs()),
    connect,
    figures: { engine: "postgres", traffic, countConnections },
  };
}

/** Watches the clock of this process. Logs its jumps. */
async function watchOwnClock(
  { config, clock, log }: EngineOptions,
  store: Store,
  opened: AsyncDisposableStack,
) {
  const periodMs = config.idempotencyKeptMs;
  const options = { name: "service", periodMs, ...(await lastTimes(store, periodMs)), log };
  const { reachMs, stop } = watchClock(clock, options);
  opened.defer(stop);
  return { options, reachMs };
}

/** What the ledger tells of the clock. If it cannot be read, no key is forgotten for some days. */
async function lastTimes(
  { history }: Store,
  periodMs: number,
): Promise<Pick<ClockWatchOptions, "lastKnown" | "skipped">> {
  try {
    const lastKnown = (await history.readTip()).at;
    return { lastKnown, skipped: await gapAt(history, lastKnown - periodMs) };
  } catch (error) {
    if (isUnavailable(error)) return { lastKnown: 0 };
    throw error;
  }
}
