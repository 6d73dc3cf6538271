import type { Log } from "../../../domain/ports.ts";
import { UnwritableServer } from "./failures.ts";

/** The server's timeline: the first eight hexadecimal digits of the file it writes its log to. */
export const timelineNow =
  "('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int4";

/** What tells one server from another. */
export interface ServerIdentity {
  /** The cluster: a standby has the identifier of its primary. */
  readonly system: string;
  /** The number the cluster knows the database by. */
  readonly database: string;
  /** Grows with every promotion of a standby. */
  readonly timeline: number;
}

/** The answer came from a server that has been replaced, or from another database altogether. */
export class WrongServer extends UnwritableServer {
  override readonly message = "The store has moved to another server; try again.";
}

/**
 * Remembers the newest timeline that any server of the database has shown to this process. After
 * a promotion the old primary may still run, take writes and hold connections; only its timeline
 * gives it away. All lanes share one guard, so that what one of them learns holds for all.
 */
export interface PrimaryGuard {
  readonly newestTimeline: number;
  /** Checks the server behind a new connection; throws WrongServer. */
  admit(server: ServerIdentity): void;
  /** Checks the timeline an answer came with; throws WrongServer. Call before using the answer. */
  confirm(timeline: number): void;
}

export function createPrimaryGuard(log: Log): PrimaryGuard {
  let known: ServerIdentity | undefined;
  let newestTimeline = 0;
  let isOtherLogged = false;

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
    admit(server) {
      known ??= server;
      if (server.system !== known.system || server.database !== known.database) {
        // Its ledger has nothing to do with the one that was served so far.
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
