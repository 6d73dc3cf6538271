import { ServiceError, unavailable, unavailableMessages } from "../../../domain/running/errors.ts";

/** The SQLSTATE of an error from the server. Connection failures have none. */
function sqlState(error: unknown): string | undefined {
  const { errno } = error as { errno?: unknown };
  return typeof errno === "string" ? errno : undefined;
}

/** Whether Bun's client itself failed: connection refused, closed or timed out, or no TLS. */
function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (
    typeof code === "string" && code.startsWith("ERR_POSTGRES_") && sqlState(error) === undefined
  );
}

/** The server is a standby, or a primary that is set read-only. */
export class UnwritableServer extends ServiceError {
  /** The cause is for the operator. Clients get the message. */
  constructor(cause = "none of its hosts accepts writes") {
    super("unavailable", unavailableMessages.unwritable, "unwritable", cause);
  }
}

/** The connection was lost, or its server was replaced, before a commit was confirmed. */
export class UnknownOutcome extends ServiceError {
  constructor(error: unknown) {
    const { unknownOutcome } = unavailableMessages;
    super("unavailable", unknownOutcome, "unknownOutcome", causeOf(error));
  }
}

/** Whether the connection lost a prepared statement, as behind a pooler in transaction mode. */
export function isUnprepared(error: unknown): boolean {
  return /^(26000|42P05)$/.test(sqlState(error) ?? "");
}

/**
 * Whether a statement was refused because it was prepared before a change of the schema, and its
 * result has other types now. It did nothing. The client would send it again and again on this
 * connection (oven-sh/bun#29484), but a new connection prepares it anew.
 */
export function isOutdated(error: unknown): boolean {
  return sqlState(error) === "0A000" && /cached plan/.test((error as Error).message);
}

/** What Bun's client means, in common words. */
const clientFailures: Readonly<Record<string, string>> = {
  ERR_POSTGRES_CONNECTION_REFUSED: "connection refused, or the host is unknown",
  ERR_POSTGRES_CONNECTION_CLOSED: "the connection was closed",
  ERR_POSTGRES_CONNECTION_FAILED: "the server did not accept the connection",
  ERR_POSTGRES_CONNECTION_TIMEOUT: "the server did not accept the connection in time",
};

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return (typeof code === "string" && clientFailures[code]) || error.message;
}

/** The cause of a failure for the log, with the server's code. */
function causeOf(error: unknown): string {
  const state = sqlState(error);
  const text = describeFailure(error);
  return state === undefined ? text : `${text} (SQLSTATE ${state})`;
}

/** The text of a failure for the operator, with advice where there is some. */
export function describeFailure(error: unknown): string {
  if (error instanceof UnwritableServer) return String(error.cause);
  const message = messageOf(error);
  if (isUnprepared(error)) {
    return `${message}: the server, perhaps a pooler, does not keep prepared statements; add prepare=false to the address`;
  }
  return sqlState(error) === "42501"
    ? `${message}; docs/postgresql.md lists the rights that the role needs`
    : message;
}

/**
 * States after which a connection is unusable. It is gone (08…), the server ended it (57P0…, 25P03,
 * 25P04: a shutdown, an operator, or a timeout for idle sessions or long transactions), it cannot
 * write (25006), or it does not know a prepared statement (0A000 after a schema change, 26000 and
 * 42P05 behind a pooler).
 */
const lostStates = /^(08...|57P0[1-5]|25006|25P0[34]|0A000|26000|42P05)$/;

export function isLost(error: unknown): boolean {
  if (error instanceof UnknownOutcome || isConnectionFailure(error)) return true;
  return lostStates.test(sqlState(error) ?? "");
}

/**
 * Whether a statement that failed so may have been committed. A cancellation can arrive after the commit
 * of a procedure. All other errors roll it back.
 */
export function isUnconfirmed(error: unknown): boolean {
  const states = /^(08...|57014|57P0[1-5]|25P0[34])$/;
  return isConnectionFailure(error) || states.test(sqlState(error) ?? "");
}

/** Whether a statement was not run, because an earlier one of its transaction had failed. */
export function isAfterFailure(error: unknown): boolean {
  return sqlState(error) === "25P02";
}

/** Whether a lock was not free in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === "55P03";
}

/** Whether the statement conflicted with another transaction and was rolled back. Retry it. */
export function isConflict(error: unknown): boolean {
  return /^(40001|40P01)$/.test(sqlState(error) ?? "");
}

const diskFull = "53100";

/** No memory or connection, a lock timeout, a cancelled statement, a deadlock, an I/O error. */
const temporaryStates = /^(53...|40...|55P03|57014|58...)$/;

/**
 * Converts a failure of the connection, and a temporary failure of the server, to an error for
 * clients. Everything else is a bug and is returned unchanged.
 */
export function toUnavailable(error: unknown): unknown {
  if (error instanceof UnknownOutcome) return error;
  if (isLost(error)) return unavailable("unreachable", causeOf(error));
  const state = sqlState(error) ?? "";
  if (state === diskFull) return unavailable("full", causeOf(error));
  return temporaryStates.test(state) ? unavailable("busy", causeOf(error)) : error;
}

/** Converts any failure to connect. A server that rejects the login is unreachable for callers too. */
export function unreachable(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : unavailable("unreachable", causeOf(error));
}

/** Whether a retry may help. It does not with a wrong password or an unknown database. */
export function isTemporary(error: unknown): boolean {
  return error instanceof UnwritableServer || isLost(error) || toUnavailable(error) !== error;
}
