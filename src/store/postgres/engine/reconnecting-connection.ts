import { Refusal } from "../../../domain/errors.ts";
import { isLost, isUnprepared, unavailableOr } from "./failures.ts";
import { WrongServer } from "./primary.ts";
import { type Rows, type Session, withinDeadline } from "./session.ts";
import { runAlone } from "./transaction.ts";

/**
 * A way to the database with a connection of its own, opened when it is first needed and again
 * whenever it was lost or its server was replaced. Every call ends within its deadline, and a database that is down is asked
 * again only every so often, however many callers there are.
 */
export interface Lane {
  /** One statement, as a transaction of its own. Statements of several callers share the connection and do not wait in line. */
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
  /**
   * Work that needs the connection for itself, a transaction for one. Callers wait in line. After
   * any failure the connection is cut, which rolls back whatever it had begun.
   */
  alone<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Makes sure that there is a connection. */
  open(): Promise<void>;
  close(): void;
}

/** A call that finds no connection waits this long for one. */
const connectWaitMs = 1_000;

/** After a failed attempt to connect, calls are refused for this long without another. */
const restMs = 100;

export function createLane(
  connect: () => Promise<Session>,
  /** False once the session's server is known to have been replaced. */
  isCurrent: (session: Session) => boolean,
  deadlineMs: number,
  /** Told of failures that only the operator can mend. */
  onUnprepared: (error: unknown) => void = () => {},
): Lane {
  let session: Session | undefined;
  let connecting: Promise<Session> | undefined;
  let restUntil = 0;
  let closed = false;
  let line: Promise<unknown> = Promise.resolve();

  function connected(): Promise<Session> {
    if (closed || performance.now() < restUntil) return Promise.reject(unreachable());
    connecting ??= connect()
      .then(
        (opened) => {
          if (closed) opened.close();
          else session = opened;
          return opened;
        },
        (error) => {
          restUntil = performance.now() + restMs;
          // A server that lets nobody in, for a password changed or a database renamed under the
          // service, is to callers as good as one that is down.
          throw error instanceof Refusal ? error : unreachable();
        },
      )
      .finally(() => {
        connecting = undefined;
      });
    return soonEnough(connecting);
  }

  function drop(lost: Session): void {
    lost.close();
    if (session === lost) session = undefined;
  }

  /**
   * The connection, if it is of use. A server that went and came back has ended it, or the store
   * has moved to another host; no caller has to find that out.
   */
  function atHand(): Session | undefined {
    if (session && !(session.isOpen && isCurrent(session))) drop(session);
    return session;
  }

  async function run<T>(work: (session: Session) => Promise<T>, isAlone: boolean): Promise<T> {
    let own: Session | undefined;
    try {
      own = atHand() ?? (await connected());
      const result = await withinDeadline(own, deadlineMs, work);
      // Replaced while it worked: what it read may be outdated, and what it wrote may be lost.
      if (!isCurrent(own)) throw new WrongServer();
      return result;
    } catch (error) {
      if (isUnprepared(error)) onUnprepared(error);
      if (own && (isAlone || isLost(error) || error instanceof WrongServer)) drop(own);
      throw unavailableOr(error);
    }
  }

  return {
    query: (text, values) => run((own) => runAlone(own, text, values), false),
    alone(work) {
      const turn = line.then(() => run(work, true));
      line = turn.catch(() => {});
      return turn;
    },
    async open() {
      if (!atHand()) await connected();
    },
    close() {
      closed = true;
      session?.close();
    },
  };
}

async function soonEnough(connecting: Promise<Session>): Promise<Session> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unreachable()), connectWaitMs);
  try {
    return await Promise.race([connecting, late]);
  } finally {
    clearTimeout(timer);
  }
}

function unreachable(): Refusal {
  return new Refusal("unavailable", "The store cannot be reached; try again.");
}
