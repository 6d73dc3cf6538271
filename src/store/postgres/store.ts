import { createProblems } from "../../domain/catalogue/import-problems.ts";
import type { Environment } from "../../domain/keys/keys.ts";
import { createCondition } from "../../domain/running/background.ts";
import type { Clock } from "../../domain/running/clock.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Log } from "../../domain/running/events.ts";
import type { Store } from "../../domain/store.ts";
import { createScriptedPorts, type ScriptMethods } from "../scripted-ports.ts";
import { orderStaging, petStaging } from "../staged-rows.ts";
import { createCatalogueReader } from "./catalogue.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { createOrCheck, readNumber } from "./creation.ts";
import { readClock } from "./engine/clock.ts";
import type { Database } from "./engine/database.ts";
import { describeFailure, isTemporary, toUnavailable } from "./engine/failures.ts";
import { takeHead } from "./engine/head-lock.ts";
import { WrongServer } from "./engine/primary.ts";
import { dialect, scriptsOn, type Transact, transactionsOn } from "./engine/scripts.ts";
import { type Session, withinDeadline } from "./engine/session.ts";
import { begin, beginReading, commitTransaction, limitWait } from "./engine/transaction.ts";
import { createEpochs, type Epochs } from "./epochs.ts";
import { createHistoryReader } from "./history.ts";
import { createIdempotencyMemory } from "./idempotency.ts";
import { importOrders, importPets } from "./imports.ts";
import { createInventoryReader } from "./inventory.ts";
import { createOverlappingCommits } from "./overlapping-commits.ts";
import { createPets } from "./pets.ts";
import { previewImport } from "./staging.ts";
import { createSnapshot, importTables } from "./transfer.ts";
import { createUsage, liftBans } from "./usage.ts";
import { createUsageHistory } from "./usage-history.ts";
import { createDeliveries } from "./webhooks.ts";

export interface PostgresOptions {
  readonly database: Database;
  readonly environment: Environment;
  /** The current time. By default the database's. */
  readonly clock?: Clock | undefined;
  /** How long to wait for a database that is not reachable yet. */
  readonly patienceMs: number;
  /** Whether the tables are created in a database that has none. True unless given. */
  readonly mayCreate?: boolean;
  /** Whether the store gets its content by `importTables`, which then creates missing tables. */
  readonly isFilled?: boolean | undefined;
  /** Whether the store is only read. Nothing in it is then changed. */
  readonly isReadOnly?: boolean | undefined;
  readonly onCreated?: (() => void) | undefined;
  readonly log?: Log | undefined;
}

/**
 * Deadlines. A request that waits behind a call that hangs still gets its response within five
 * seconds: the deadline of that call, plus the second that a new connection may take.
 */
const quickMs = 2_000;
const longMs = 3_000;
const commitMs = 3_500;
/** For what an operator changes, which may have to wait for an import. */
const patientMs = 8_000;
/**
 * For commands, which no client waits for. To hash or verify a hundred million ledger
 * rows takes about ten minutes.
 */
const ownSessionMs = 3_600_000;

/** How long a start waits before it tries to connect again. */
const retryMs = 500;

export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { database, clock, isReadOnly = false } = options;
  const epochs = await prepare(options);
  const quick = database.connection(quickMs, isReadOnly);
  const long = database.connection(longMs, isReadOnly);
  const writes = database.connection(commitMs);
  const now = () => clock?.now() ?? null;
  const idempotency = createIdempotencyMemory();
  const parts = { epochs, idempotency };

  const { onOwnSession, transact } = createOwnSessions(database, isReadOnly);

  const methods: ScriptMethods = {
    quick: (scripts) => scriptsOn(quick.query, scripts),
    reads: (scripts) => scriptsOn(long.query, scripts),
    writes: (scripts) => transactionsOn(transact, scripts),
  };
  const { pets, webhooks, ...scripted } = createScriptedPorts(methods, dialect);

  return {
    ...scripted,
    inventory: {
      ...createInventoryReader(epochs, database.guard, quick.query, long.query),
      cachedHead: () => undefined,
      readClock: async () => Number((await quick.query(readClock, [now()]))[0]![0]),
      ...createOverlappingCommits(writes, parts, now),
      canWrite: () => true,
    },
    history: createHistoryReader(database.guard, quick.query, long.query),
    idempotency: {
      prepare: () => idempotency.load(long.query),
      prune: (before, commitsMax) => idempotency.prune(long.query, before, commitsMax),
    },
    checkpoints: createCheckpoints(epochs, database.guard, long.query, now),
    catalogue: {
      ...createCatalogueReader(quick.query, long.query),
      ...pets,
      ...createPets(transact, epochs, now),
      importPets: (records, origin, problems = createProblems()) =>
        onOwnSession((own) => importPets(own, epochs, records, problems, origin, now())),
      importOrders: (records, origin, problems = createProblems()) =>
        onOwnSession((own) => importOrders(own, records, problems, origin, now())),
      previewPets: (...args) => onOwnSession((own) => previewImport(own, petStaging, ...args)),
      previewOrders: (...args) => onOwnSession((own) => previewImport(own, orderStaging, ...args)),
    },
    usage: { ...createUsage(long.query, now), ...transactionsOn(transact, liftBans) },
    usageHistory: createUsageHistory(long.query),
    webhooks: { ...webhooks, ...createDeliveries(long.query, now) },
    transfer: {
      snapshot: (work) =>
        onOwnSession(async (session) => {
          await session.sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
          return work(createSnapshot(session, epochs, database.guard));
        }),
      importTables: (rowsOf) =>
        onOwnSession(async (session) => {
          const isCreated = await importTables(session, rowsOf, options.environment);
          if (isCreated) options.onCreated?.();
        }),
    },
    async close() {
      database.close();
    },
  };
}

/** Work on sessions of its own, so that requests do not wait for it. */
function createOwnSessions(database: Database, isReadOnly: boolean) {
  async function onOwnSession<T>(
    work: (session: Session) => Promise<T>,
    deadlineMs = ownSessionMs,
  ): Promise<T> {
    try {
      const session = await database.connect();
      const running = withinDeadline(session, deadlineMs, work);
      const result = await running.finally(() => session.close());
      // Replaced meanwhile: what the work wrote may be lost.
      if (!database.isCurrent(session)) throw new WrongServer();
      return result;
    } catch (error) {
      throw toUnavailable(error);
    }
  }

  /**
   * For a transaction that may have to wait for an import. It gives up before its deadline, after which
   * the database could still store it.
   */
  const transact: Transact = (work) =>
    onOwnSession(async (session) => {
      await session.query(isReadOnly ? beginReading : begin);
      await session.query(limitWait);
      const result = await work(session.query, session);
      await commitTransaction(session.sql);
      return result;
    }, patientMs);

  return { onOwnSession, transact };
}

/**
 * Creates the tables of a new store and records the current epoch. Waits for a database that is not reachable yet,
 * but not if a retry cannot help.
 */
async function prepare(options: PostgresOptions): Promise<Epochs> {
  const { database, environment, patienceMs, mayCreate = true, log = () => {} } = options;
  const { isReadOnly = false, isFilled = false } = options;
  const reachable = createCondition(log, { began: "store lost", ended: "store back" });
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      const session = await database.connect();
      const epochs = createEpochs(session.server);
      const preparing = withinDeadline(session, ownSessionMs, async (own) => {
        const isMissing = (!mayCreate || isFilled) && (await readNumber(own)) === 0;
        if (isMissing && !mayCreate) throw noStore(database);
        if (isMissing) return false;
        const isCreated = await createOrCheck(own, environment);
        if (!isReadOnly) await recordEpoch(own, epochs);
        return isCreated;
      });
      const isCreated = await preparing.finally(() => session.close());
      reachable.succeeded();
      if (isCreated) options.onCreated?.();
      return epochs;
    } catch (error) {
      if (!isTemporary(error) || performance.now() > giveUpAt) throw cannotOpen(database, error);
      reachable.failed(() => ({ cause: describeFailure(error) }));
      await Bun.sleep(retryMs);
    }
  }
}

/**
 * Records the current epoch before clients see it. A position that a client reads before the first
 * write then stays known after a promotion.
 */
async function recordEpoch(session: Session, epochs: Epochs): Promise<void> {
  const { sql, query } = session;
  if (!(await epochs.isUnrecorded(query))) return;
  await query(begin);
  const { seq, timeline } = await takeHead(session, null);
  await epochs.record(query, timeline, seq);
  await commitTransaction(sql);
}

function noStore({ label }: Database): ServiceError {
  const problem = `there is no store in the database at ${label}; check --database`;
  return new ServiceError("not_found", problem);
}

/** For the operator. Clients of the API never see it. */
function cannotOpen(database: Database, error: unknown): unknown {
  if (error instanceof ServiceError && error.code !== "unavailable") return error;
  const reason = describeFailure(error);
  return new ServiceError(
    "unavailable",
    `cannot open the database at ${database.label}: ${reason}`,
  );
}
