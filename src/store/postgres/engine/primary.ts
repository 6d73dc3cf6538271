import type { Log } from "../../../domain/running/events.ts";
import { createServerClock } from "./clock.ts";
import { UnwritableServer } from "./failures.ts";

/** The server's timeline: the first eight hexadecimal digits of the name of its current WAL file. */
export const timelineNow =
  "('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int4";

/** What distinguishes one server or database from another. */
export interface ServerIdentity {
  /** The identifier of the cluster. A standby has the identifier of its primary. */
  readonly system: string;
  /** The oid of the database. It is unique within the cluster. */
  readonly databaseOid: string;
  /** Increases with every promotion of a standby. */
  readonly timeline: number;
}

/** A response came from a server that was replaced, or from another database. */
export class WrongServer extends UnwritableServer {
  override readonly message = "The store has moved to another server. Try again.";
}

export type PrimaryGuard = ReturnType<typeof createPrimaryGuard>;

/**
 * Remembers the newest timeline that any server of the database has shown to this process. After a
 * promotion the old primary may still run, accept writes and hold connections. Only its timeline
 * shows that it was replaced. All connections share one guard, so each uses what another learned.
 */
export function createPrimaryGuard(log: Log) {
  let known: ServerIdentity | undefined;
  let newestTimeline = 0;
  let isOtherLogged = false;

  /** Checks the timeline of a response before the response is used. Throws WrongServer. */
  function confirm(timeline: number): void {
    if (timeline < newestTimeline) throw new WrongServer();
    if (timeline === newestTimeline) return;
    if (newestTimeline > 0) log("database primary replaced", { timeline });
    newestTimeline = timeline;
  }

  return {
    get newestTimeline() {
      return newestTimeline;
    },
    clock: createServerClock(),
    /** Checks the server of a new connection. Throws WrongServer. */
    admit(server: ServerIdentity): void {
      known ??= server;
      if (server.system !== known.system || server.databaseOid !== known.databaseOid) {
        // Its ledger is not the one that was served so far.
        if (!isOtherLogged) {
          const remedy = "restart to serve this database";
          log("database address leads to another database", { remedy });
        }
        isOtherLogged = true;
        throw new WrongServer();
      }
      confirm(server.timeline);
    },
    confirm,
  };
}
