import { Refusal } from "../../../domain/errors.ts";

/** What the engine's SQLSTATE, where there is one, says; connection failures have none. */
function sqlState(error: unknown): string | undefined {
  const { errno } = error as { errno?: unknown };
  return typeof errno === "string" ? errno : undefined;
}

/** Failures of Bun's client itself: refused, closed, timed out, no TLS. */
function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (
    typeof code === "string" && code.startsWith("ERR_POSTGRES_") && sqlState(error) === undefined
  );
}

/** A standby, or a primary that was told to take no writes. */
export class UnwritableServer extends Refusal {
  /** For the operator; callers of the API get the message. */
  readonly reason: string;

  constructor(reason = "none of its hosts takes writes") {
    super("unavailable", "The store cannot be written at the moment; try again.");
    this.reason = reason;
  }
}

/** The connection did not keep a prepared statement, as behind a pooler in transaction mode. */
export function isUnprepared(error: unknown): boolean {
  return /^(26000|42P05)$/.test(sqlState(error) ?? "");
}

/** What an operator should know of a failure. */
export function explain(error: unknown): string {
  if (error instanceof UnwritableServer) return error.reason;
  const message = error instanceof Error ? error.message : String(error);
  if (isUnprepared(error)) {
    return `${message}: the server, perhaps a pooler, does not keep prepared statements; add prepare=false to the address`;
  }
  return sqlState(error) === "42501"
    ? `${message}; docs/operating.md lists the rights that the role needs`
    : message;
}

/**
 * States after which a connection is of no more use: it is gone (08…), its server ended it (57P0…,
 * 25P03, 25P04: a shutdown, an operator, or a timeout for idle sessions or long transactions) or
 * cannot write (25006), or it does not know a statement that was prepared on it (0A000 after a
 * change of the schema, 26000 and 42P05 behind a pooler).
 */
const lostStates = /^(08...|57P0[1-5]|25006|25P0[34]|0A000|26000|42P05)$/;

export function isLost(error: unknown): boolean {
  return isConnectionFailure(error) || lostStates.test(sqlState(error) ?? "");
}

/** The statement ran into another transaction and was rolled back; sent again it may succeed. */
export function isConflict(error: unknown): boolean {
  return /^(40001|40P01)$/.test(sqlState(error) ?? "");
}

/** States that time heals: no room, no lock in time, a cancelled statement, a deadlock. */
const passingStates = /^(53...|40...|55P03|57014|58...)$/;

/**
 * What an engine failure means to a caller. Everything that is neither the connection nor the
 * moment is a bug and passes through.
 */
export function unavailableOr(error: unknown): unknown {
  if (isLost(error)) return new Refusal("unavailable", "The store cannot be reached; try again.");
  if (passingStates.test(sqlState(error) ?? "")) {
    return new Refusal("unavailable", "The store is busy; try again.");
  }
  return error;
}

/** Whether waiting may help: not with a wrong password or a name that does not exist. */
export function isPassing(error: unknown): boolean {
  return error instanceof UnwritableServer || isLost(error) || unavailableOr(error) !== error;
}
