import { Refusal } from "../../domain/errors.ts";

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
  constructor() {
    super("unavailable", "The store cannot be written at the moment; try again.");
  }
}

/** States after which a connection is of no more use: it is gone, or its server cannot write. */
const lostStates = /^(08...|57P0[1-4]|25006|25P03)$/;

export function isLost(error: unknown): boolean {
  return isConnectionFailure(error) || lostStates.test(sqlState(error) ?? "");
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
