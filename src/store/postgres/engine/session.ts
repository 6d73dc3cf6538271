import { type ReservedSQL, SQL } from "bun";
import { connectionOptions } from "./address.ts";
import { type ServerClock, serverTimeMs } from "./clock.ts";
import { isLost, isOutdated, UnwritableServer } from "./failures.ts";
import { type PrimaryGuard, type ServerIdentity, timelineNow } from "./primary.ts";

export type Rows = readonly (readonly unknown[])[];

/** Runs one statement. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<Rows>;

/** One connection to a server that accepts writes. */
export interface Session {
  readonly sql: ReservedSQL;
  /** The address of the host, without the other hosts. */
  readonly url: string;
  /** The server when the session was opened. Behind a pooler the server may change. */
  readonly server: ServerIdentity;
  /** Checks the timeline of a response. Throws if a newer one is known. */
  confirm(timeline: number): void;
  /** The clock of the primary, from all sessions of the database. */
  readonly clock: ServerClock;
  /** Whether a statement without BEGIN runs at READ COMMITTED, the default of server and role. */
  readonly isReadCommitted: boolean;
  /** Runs one statement. Several that are sent without waiting share a round trip. */
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
  /** Closes the connection at once. Every pending statement rejects. */
  close(): void;
  /** False once either side has closed the connection. */
  readonly isOpen: boolean;
}

/** What all sessions of a database have sent, for metrics. */
export interface Traffic {
  /** Without COMMIT and ROLLBACK. */
  statements: number;
  /** Statements that are sent in the same turn of a session share one. */
  roundTrips: number;
}

/** How long a server may take to accept a connection, or to respond to the first statement. */
const connectSeconds = 2;

/** A server in recovery cannot report its timeline. */
const identifyServer = `SELECT pg_is_in_recovery(), current_setting('transaction_read_only'),
  current_setting('transaction_isolation') = 'read committed',
  (SELECT system_identifier::text FROM pg_control_system()),
  (SELECT oid::text FROM pg_database WHERE datname = current_database()),
  CASE WHEN pg_is_in_recovery() THEN 0 ELSE ${timelineNow} END,
  ${serverTimeMs}`;

/** Connects to one host. Throws if it does not accept writes or was replaced. */
export async function openSession(
  url: string,
  prepare: boolean,
  guard: PrimaryGuard,
  traffic: Traffic = { statements: 0, roundTrips: 0 },
): Promise<Session> {
  let isOpen = true;
  let isSending = false;

  function count(): void {
    traffic.statements += 1;
    if (isSending) return;
    isSending = true;
    traffic.roundTrips += 1;
    queueMicrotask(() => {
      isSending = false;
    });
  }

  const pool = new SQL(url, {
    ...connectionOptions(url),
    max: 1,
    onclose: () => {
      isOpen = false;
    },
    bigint: true,
    prepare,
    connectionTimeout: connectSeconds,
    idleTimeout: 0,
    maxLifetime: 0,
  });
  const close = () => {
    isOpen = false;
    void pool.close({ timeout: 0 }).catch(() => {});
  };
  const timer = setTimeout(close, 1.5 * connectSeconds * 1_000);
  try {
    const sql = await pool.reserve();
    const query = (text: string, values?: readonly unknown[]) => {
      count();
      return (values ? sql.unsafe(text, values as unknown[]) : sql(asTemplate(text))).values();
    };
    const [[isStandby, readOnly, isReadCommitted, system, databaseOid, timeline, time] = []] =
      await query(identifyServer);
    if (isStandby) {
      throw new UnwritableServer(
        "the server is a standby; use the primary's address, or all hosts",
      );
    }
    if (readOnly !== "off") {
      throw new UnwritableServer(
        "default_transaction_read_only is on: the server accepts no writes",
      );
    }
    const server = {
      system: String(system),
      databaseOid: String(databaseOid),
      timeline: Number(timeline),
    };
    guard.admit(server);
    guard.clock.saw(Number(time), server.timeline);
    return {
      sql,
      url,
      server,
      confirm: guard.confirm,
      clock: guard.clock,
      isReadCommitted: isReadCommitted === true,
      query,
      close,
      get isOpen() {
        return isOpen;
      },
    };
  } catch (error) {
    close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const templates = new Map<string, TemplateStringsArray>();

/** The client prepares a text without parameters, and sends it with others, only as a template. */
function asTemplate(text: string): TemplateStringsArray {
  let template = templates.get(text);
  if (!template) {
    template = Object.defineProperty([text], "raw", {
      value: [text],
    }) as unknown as TemplateStringsArray;
    templates.set(text, template);
  }
  return template;
}

/**
 * Runs work on a session within a deadline. A query that hangs on a dead network cannot be cancelled,
 * so the connection is closed when the deadline passes. It is also closed if it was lost.
 */
export async function withinDeadline<T>(
  session: Session,
  deadlineMs: number,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => session.close(), deadlineMs);
  try {
    return await work(session);
  } catch (error) {
    // Other statements still work beside an outdated one.
    if (isLost(error) && !isOutdated(error)) session.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
