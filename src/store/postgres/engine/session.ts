import { type ReservedSQL, SQL } from "bun";
import { connectionOptions } from "./address.ts";
import { isLost, UnwritableServer } from "./failures.ts";
import { type PrimaryGuard, type ServerIdentity, timelineNow } from "./primary.ts";

export type Rows = readonly (readonly unknown[])[];

/** Runs one statement. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<Rows>;

/** One connection to a server that can be written. */
export interface Session {
  readonly sql: ReservedSQL;
  /** The address of the one host it goes to. */
  readonly url: string;
  /** The server behind it when it was opened; behind a pooler the server may change. */
  readonly server: ServerIdentity;
  /** Checks the timeline an answer came with; throws if a newer one is known. */
  confirm(timeline: number): void;
  /** Whether a statement by itself runs at READ COMMITTED: the default of server and role. */
  readonly isReadCommitted: boolean;
  /** One statement; several sent without waiting travel together. */
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
  /** Cuts the connection at once: whatever is under way on it rejects. */
  close(): void;
  /** False once the connection has ended, by whichever side. */
  readonly isOpen: boolean;
}

/** How long a server may take to accept a connection, or to answer the first question on it. */
const connectSeconds = 2;

/** A server in recovery has no timeline of its own to tell. */
const firstQuestion = `SELECT pg_is_in_recovery(), current_setting('transaction_read_only'),
  current_setting('transaction_isolation') = 'read committed',
  (SELECT system_identifier::text FROM pg_control_system()),
  (SELECT oid::text FROM pg_database WHERE datname = current_database()),
  CASE WHEN pg_is_in_recovery() THEN 0 ELSE ${timelineNow} END`;

/** Connects to one host and makes sure that it can be written and has not been replaced. */
export async function openSession(
  url: string,
  prepare: boolean,
  guard: PrimaryGuard,
): Promise<Session> {
  let isOpen = true;
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
    const query = (text: string, values?: readonly unknown[]) =>
      (values ? sql.unsafe(text, values as unknown[]) : sql(asTemplate(text))).values();
    const [[isStandby, readOnly, isReadCommitted, system, database, timeline] = []] =
      await query(firstQuestion);
    if (isStandby) {
      throw new UnwritableServer("the server is a standby; name the primary, or all hosts");
    }
    if (readOnly !== "off") {
      throw new UnwritableServer("default_transaction_read_only is on: it takes no writes");
    }
    const server = {
      system: String(system),
      database: String(database),
      timeline: Number(timeline),
    };
    guard.admit(server);
    return {
      sql,
      url,
      server,
      confirm: guard.confirm,
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

/** A text without parameters is prepared, and travels together with others, only as a template. */
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
 * Runs work on a session within a deadline. A query that hangs on a dead network cannot be called
 * back, so what a passed deadline does is cut the connection; so does a lost one.
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
    if (isLost(error)) session.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
