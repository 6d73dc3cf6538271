import { ServiceError } from "../../domain/running/errors.ts";
import { connectionClosed } from "./error-messages.ts";

/** A request that waits for the end of this turn of the event loop. */
interface Arrival {
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: ServiceError) => void;
}

let arrivals: Arrival[] = [];

/**
 * Resolves when the HTTP parser has accepted what it has passed on, and rejects if it has not. The parser
 * passes on a request, or the last bytes of a body, before it has checked what follows in the same packet.
 * If it rejects that, it responds by itself and aborts the request's signal, in the same turn of the event
 * loop. So nothing may change before the turn has ended. One `setImmediate` serves all requests of a turn.
 * See docs/decisions/0011-rejected-requests.md.
 */
export function untilAccepted({ signal }: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    if (arrivals.push({ signal, resolve, reject }) === 1) setImmediate(endTurn);
  });
}

function endTurn(): void {
  const ended = arrivals;
  arrivals = [];
  for (const { signal, resolve, reject } of ended) {
    if (signal.aborted) reject(new ServiceError("invalid_request", connectionClosed));
    else resolve();
  }
}
