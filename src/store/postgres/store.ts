import { Refusal } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import type { Clock, Store } from "../../domain/ports.ts";
import { createCatalogueReader } from "./catalogue.ts";
import type { Database } from "./engine/connection.ts";
import { explain, isPassing, unavailableOr } from "./engine/failures.ts";
import { WrongServer } from "./engine/primary.ts";
import { type Session, withinDeadline } from "./engine/session.ts";
import { importOrders, importPets } from "./imports.ts";
import { commit, createInventoryReader } from "./inventory.ts";
import { createKeys } from "./keys.ts";
import { migrate } from "./migrations.ts";
import { checkStructure } from "./structure.ts";
import { importTables, rowsFrom } from "./transfer.ts";
import { createUsage } from "./usage.ts";

export interface PostgresOptions {
  readonly database: Database;
  readonly environment: Environment;
  /** What time it is; the database's own time unless given. */
  readonly clock?: Clock | undefined;
  /** How long to wait for a database that cannot be reached yet. */
  readonly patienceMs: number;
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

export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { database, clock } = options;
  const databaseOid = await prepare(options);
  const quick = database.lane(quickMs);
  const long = database.lane(longMs);
  const writes = database.lane(commitMs);
  const now = () => clock?.now() ?? null;

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
    inventory: {
      ...createInventoryReader(databaseOid, database.guard, quick.query, long.query),
      cachedHead: () => undefined,
      commit: (units) => writes.alone((session) => commit(session, units, now())),
      canWrite: () => true,
    },
    catalogue: {
      ...createCatalogueReader(quick.query, long.query),
      importPets: (records, reason) =>
        onOwnSession((session) => importPets(session, records, reason, now())),
      importOrders: (records) => onOwnSession((session) => importOrders(session, records)),
    },
    keys: createKeys(quick.query, long.query),
    usage: createUsage(long.query),
    transfer: {
      snapshot: (work) =>
        onOwnSession(async (session) => {
          const { sql, query } = session;
          await sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
          return work({
            ...createInventoryReader(databaseOid, database.guard, query, query),
            ...createCatalogueReader(query, query),
            rowsOf: rowsFrom(session),
            checkStructure: () => checkStructure(session),
          });
        }),
      importTables: (rowsOf) => onOwnSession((session) => importTables(session, rowsOf)),
    },
    async close() {
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
