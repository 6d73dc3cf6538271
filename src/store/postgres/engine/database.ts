import { createCondition, every, inBackground } from "../../../domain/running/background.ts";
import type { Log } from "../../../domain/running/events.ts";
import { parseAddress } from "./address.ts";
import { describeFailure } from "./failures.ts";
import { createHosts } from "./hosts.ts";
import { createPrimaryGuard } from "./primary.ts";
import {
  createReconnectingConnection,
  type ReconnectingConnection,
} from "./reconnecting-connection.ts";
import type { Traffic } from "./session.ts";

const watchEveryMs = 1_000;

export type Database = ReturnType<typeof createDatabase>;

/** The database at an address, on the host that is the primary at the moment. */
export function createDatabase(url: string, log: Log = () => {}) {
  const address = parseAddress(url);
  const guard = createPrimaryGuard(log);
  const traffic: Traffic = { statements: 0, roundTrips: 0 };
  const { connect, isCurrent, check: checkHosts } = createHosts(address, guard, traffic);
  const connections: ReconnectingConnection[] = [];
  let stopWatching: (() => void) | undefined;
  const check = createCondition(log, {
    began: "database primary cannot be checked",
    ended: "database primary can be checked",
  });
  let isUnpreparedLogged = false;

  /** Logs once, because clients get a 503 without the reason. */
  function logUnprepared(error: unknown): void {
    if (isUnpreparedLogged) return;
    isUnpreparedLogged = true;
    log("database keeps no prepared statements", { error: describeFailure(error) });
  }

  /** Opens every connection that is not open. Returns false if one cannot be opened. */
  async function openConnections(): Promise<boolean> {
    const opened = await Promise.allSettled(connections.map((connection) => connection.open()));
    return opened.every(({ status }) => status === "fulfilled");
  }

  async function watchOnce(): Promise<void> {
    const wereOpen = connections.every(({ isOpen }) => isOpen);
    const failure = await checkHosts().then(
      () => undefined,
      (error: AggregateError) => error,
    );
    const areOpen = await openConnections();
    if (!failure) check.succeeded();
    // Logged, because a new primary may go unnoticed without this check. If the connections are or were lost
    // too, the store is unavailable, which is logged elsewhere.
    else if (wereOpen && areOpen)
      check.failed(() => ({ errors: failure.errors.map(describeFailure) }));
  }

  return {
    label: address.label,
    guard,
    /** Opens a session. The caller closes it. */
    connect,
    isCurrent,
    /** A connection that stays until `close` and whose calls end within `deadlineMs`. */
    connection(deadlineMs: number, isReadOnly = false): ReconnectingConnection {
      const connection = createReconnectingConnection({
        connect,
        isCurrent,
        deadlineMs,
        isReadOnly,
        onUnprepared: logUnprepared,
      });
      connections.push(connection);
      return connection;
    },
    openConnections,
    /**
     * Starts to check every second which server is the primary, and to reopen lost connections. A
     * connection that works does not show which server a new one would reach.
     */
    watch(): void {
      // Does not wait for the previous check: one that hangs must not hide a new primary.
      const name = "watching the primary";
      stopWatching ??= every(watchEveryMs, name, log, inBackground(name, log, watchOnce));
    },
    /** Closes every connection. */
    close(): void {
      stopWatching?.();
      for (const connection of connections) connection.close();
    },
    traffic: traffic as Readonly<Traffic>,
    /** How many of the connections are open, and how many are not. */
    countConnections() {
      const open = connections.filter(({ isOpen }) => isOpen).length;
      return { open, closed: connections.length - open };
    },
  };
}
