import { every } from "../../domain/background.ts";
import { Refusal } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import type { Clock, Log, Store } from "../../domain/ports.ts";
import { createReader } from "./catalogue.ts";
import type { Database } from "./engine/connection.ts";
import { explain, isPassing, unavailableOr } from "./engine/failures.ts";
import { WrongServer } from "./engine/primary.ts";
import { type Session, withinDeadline } from "./engine/session.ts";
import { importOrders, importPets } from "./imports.ts";
import { commit } from "./inventory.ts";
import { createKeeper } from "./keys.ts";
import { migrate } from "./migrations.ts";
import { checkStructure } from "./structure.ts";
import { rowsFrom, takeOver } from "./transfer.ts";

export interface PostgresOptions {
  readonly database: Database;
  readonly environment: Environment;
  /** What time it is; the database's own time unless given. */
  readonly clock?: Clock | undefined;
  /** How long to wait for a database that cannot be reached yet. */
  readonly patienceMs: number;
  /** Told when keys can no longer be watched, and when they can again. */
  readonly log?: Log | undefined;
}

/**
 * Deadlines, so chosen that whoever waits behind a call that hangs is answered within five seconds
 * all the same: the call ahead, plus the second a new connection is waited for.
 */
const quickMs = 2_000;
const longMs = 3_000;
const commitMs = 3_500;
/** For work of a command, or of a migration, that nobody waits for on a socket. */
const patientMs = 600_000;

/** How long a start waits before it tries an absent database again. */
const retryMs = 500;

/** How often an instance asks whether keys or bans were changed elsewhere. */
const watchEveryMs = 250;

export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { database, clock } = options;
  const place = await prepare(options);
  const quick = database.lane(quickMs);
  const long = database.lane(longMs);
  const writes = database.lane(commitMs);
  const reader = createReader(place, database.guard, quick.query, long.query);
  const listeners: (() => void)[] = [];
  const tellListeners = () => {
    for (const listener of listeners) listener();
  };
  const keeper = createKeeper(quick.query, long.query, tellListeners);
  const now = () => clock?.now() ?? null;
  let stopWatching: (() => void) | undefined;

  /** Notifications can be lost in silence, so the guarantee is to ask, and one way is enough. */
  function watch(): () => void {
    // Nothing is known at first: keys may have been read, and changed since, before the first look.
    let known: number | undefined;
    // Keys that are changed while the database is away are noticed on its return.
    return every(watchEveryMs, "watching keys", options.log ?? (() => {}), async () => {
      const { keysVersion } = await reader.look();
      if (known !== keysVersion) tellListeners();
      known = keysVersion;
    });
  }

  async function onOwnSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
    try {
      const session = await database.connect();
      const result = await withinDeadline(session, patientMs, work).finally(() => session.close());
      // Replaced while it worked: what it wrote may be lost.
      if (!database.isCurrent(session)) throw new WrongServer();
      return result;
    } catch (error) {
      throw unavailableOr(error);
    }
  }

  return {
    ...reader,
    ...keeper,
    onKeysChanged(listener) {
      listeners.push(listener);
      stopWatching ??= watch();
    },
    snapshot: (work) =>
      onOwnSession(async (session) => {
        await session.sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
        return work({
          ...createReader(place, database.guard, session.query, session.query),
          rowsOf: rowsFrom(session),
          checkStructure: () => checkStructure(session),
        });
      }),
    commit: (changes) => writes.alone((session) => commit(session, changes, now())),
    importPets: (records, reason) =>
      onOwnSession((session) => importPets(session, records, reason, now())),
    importOrders: (records) => onOwnSession((session) => importOrders(session, records)),
    carryOut: (work) =>
      onOwnSession(async (session) => {
        await session.sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
        return work(rowsFrom(session));
      }),
    carryIn: (rowsOf) => onOwnSession((session) => takeOver(session, rowsOf)),
    async close() {
      stopWatching?.();
      database.close();
    },
  };
}

/**
 * Migrates, and gives the number the server knows the database by. Waits for a database that is
 * not there yet, but not for one that never will be.
 */
async function prepare({ database, environment, patienceMs }: PostgresOptions): Promise<string> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      const session = await database.connect();
      const work = withinDeadline(session, patientMs, (own) => migrate(own, environment));
      await work.finally(() => session.close());
      return session.server.database;
    } catch (error) {
      if (!isPassing(error) || performance.now() > giveUpAt) throw unopened(database, error);
      await Bun.sleep(retryMs);
    }
  }
}

/** One plain sentence for the operator; callers of the API never see it. */
function unopened(database: Database, error: unknown): unknown {
  if (error instanceof Refusal && error.code !== "unavailable") return error;
  const reason = explain(error);
  return new Refusal("unavailable", `cannot open the database at ${database.label}: ${reason}`);
}
