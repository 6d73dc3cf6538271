import { unavailable } from "../../../domain/running/errors.ts";
import { isLost, isOutdated, isUnprepared, toUnavailable, unreachable } from "./failures.ts";
import { WrongServer } from "./primary.ts";
import { type Rows, type Session, withinDeadline } from "./session.ts";
import { runStatement } from "./transaction.ts";

/**
 * A connection that is opened on first use, and again after it was lost or its server was replaced.
 * Every call ends within its deadline. While the database is down, attempts to connect are spaced,
 * however many callers there are.
 */
export interface ReconnectingConnection {
  /**
   * Runs one statement in its own transaction. Statements of several callers share the connection
   * and do not wait for each other.
   */
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
  /** Runs work that consists of statements in their own transactions, but not during exclusive work. */
  shared<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Runs work that no other caller may interrupt, such as a transaction. Callers queue, also behind
   * shared work. Any failure closes the connection, which rolls back what the work had begun.
   */
  exclusive<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Connects unless there is a usable session. */
  open(): Promise<void>;
  close(): void;
  readonly isOpen: boolean;
}

export interface ReconnectingOptions {
  connect(): Promise<Session>;
  /** False once the session's server is known to have been replaced. */
  isCurrent(session: Session): boolean;
  readonly deadlineMs: number;
  /** Whether the database rejects statements that write. The other work must not write. */
  readonly isReadOnly?: boolean;
  /** Called with failures that only the operator can fix. */
  onUnprepared?(error: unknown): void;
}

/** How long a call waits for a new session. */
const connectTimeoutMs = 1_000;
const lateCause = "no connection within a second";

/** After a failed attempt to connect, calls fail for this long without another attempt. */
const retryDelayMs = 100;

export function createReconnectingConnection(options: ReconnectingOptions): ReconnectingConnection {
  const { connect, isCurrent, deadlineMs, isReadOnly = false, onUnprepared } = options;
  let session: Session | undefined;
  let closed = false;
  /** Sessions that are replaced, but still finish the statements of other callers. */
  const retired = new Set<Session>();
  /** The end of all exclusive work, and the end of all shared work. */
  let exclusiveEnd: Promise<unknown> = Promise.resolve();
  let sharedEnd: Promise<unknown> = Promise.resolve();

  const open = spacedOpening(connect, (opened) => {
    if (closed) opened.close();
    else session = opened;
  });
  const newSession = async () => {
    if (closed) throw unavailable("unreachable");
    return open();
  };

  function drop(lost: Session): void {
    lost.close();
    if (session === lost) session = undefined;
  }

  /** Replaces a session without failing its other statements, which end within the deadline. */
  function retire(outdated: Session): void {
    if (session === outdated) session = undefined;
    if (retired.has(outdated)) return;
    retired.add(outdated);
    const end = () => {
      retired.delete(outdated);
      outdated.close();
    };
    setTimeout(end, deadlineMs).unref();
  }

  /**
   * Returns the session unless it has ended or its server was replaced, so that no caller has to
   * fail to detect that.
   */
  function usableSession(): Session | undefined {
    if (session && !(session.isOpen && isCurrent(session))) drop(session);
    return session;
  }

  async function run<T>(
    work: (session: Session) => Promise<T>,
    isExclusive: boolean,
    isRepeated = false,
  ): Promise<T> {
    let used: Session | undefined;
    try {
      used = usableSession() ?? (await newSession());
      const result = await withinDeadline(used, deadlineMs, work);
      // Replaced meanwhile: what the work read may be outdated, and what it wrote may be lost.
      if (!isCurrent(used)) throw new WrongServer();
      return result;
    } catch (error) {
      // The server rolled back all of the work, so it is safe to run it again.
      if (used && isOutdated(error) && !isRepeated) {
        if (isExclusive) drop(used);
        else retire(used);
        return run(work, isExclusive, true);
      }
      if (isUnprepared(error)) onUnprepared?.(error);
      if (used && (isExclusive || isLost(error) || error instanceof WrongServer)) drop(used);
      throw toUnavailable(error);
    }
  }

  return {
    query: (text, values) => run((used) => runStatement(used, isReadOnly, text, values), false),
    shared(work) {
      const result = exclusiveEnd.then(() => run(work, false));
      // Without the results: they would be kept, with those of all work before.
      sharedEnd = Promise.allSettled([sharedEnd, result]).then(() => {});
      return result;
    },
    exclusive(work) {
      const result = Promise.all([exclusiveEnd, sharedEnd]).then(() => run(work, true));
      exclusiveEnd = result.catch(() => {});
      return result;
    },
    async open() {
      if (!usableSession()) await newSession();
    },
    close() {
      closed = true;
      session?.close();
      for (const one of retired) one.close();
    },
    get isOpen() {
      return session?.isOpen === true;
    },
  };
}

/** Opens one session at a time, and waits for a moment after a failure. */
function spacedOpening(
  connect: () => Promise<Session>,
  onOpened: (session: Session) => void,
): () => Promise<Session> {
  let connecting: Promise<Session> | undefined;
  let retryAt = 0;
  /** Why the last attempt to connect failed. */
  let lastCause: unknown;

  async function open(): Promise<Session> {
    try {
      const opened = await connect();
      onOpened(opened);
      return opened;
    } catch (error) {
      retryAt = performance.now() + retryDelayMs;
      const failure = unreachable(error);
      lastCause = failure.cause;
      throw failure;
    } finally {
      connecting = undefined;
    }
  }

  return async () => {
    if (performance.now() < retryAt) throw unavailable("unreachable", lastCause);
    connecting ??= open();
    return withConnectTimeout(connecting);
  };
}

async function withConnectTimeout(connecting: Promise<Session>): Promise<Session> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable("unreachable", lateCause)), connectTimeoutMs);
  try {
    return await Promise.race([connecting, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
