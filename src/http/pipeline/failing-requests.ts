import {
  type Condition,
  createCondition,
  every,
  failureDetails,
} from "../../domain/running/background.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Log } from "../../domain/running/events.ts";
import type { FinishedRequest } from "../../domain/running/requests.ts";
import { traceIdOf } from "../../domain/values/traceparent.ts";

/** The number of different failures that are logged separately. Further bugs are counted together. */
const kindsMax = 50;

/**
 * Logs when requests start and stop to get 500 or 503, once for each kind of failure. They have stopped if
 * none has failed for `quietMs`, unless the store still fails: then there were just no requests.
 */
export function createFailingRequests(
  log: Log,
  quietMs: number,
  store: { readonly isFailing: boolean },
) {
  const conditions = new Map<string, Condition>();

  /** Failures of the same kind share a condition, so that they are logged once. */
  function conditionOf(kind: string, subject: Record<string, unknown>, isBug: boolean): Condition {
    let condition = conditions.get(kind);
    if (!condition) {
      condition = createCondition(log, {
        began: isBug ? "bug" : "requests failing",
        ended: "requests stopped failing",
        subject,
        quietMs,
      });
      conditions.set(kind, condition);
    }
    return condition;
  }

  function observe(request: FinishedRequest): void {
    const { failure, operation } = request;
    if (failure === undefined) return;
    if (failure instanceof ServiceError) {
      const { reason = "other" } = failure;
      // The log already says that the service stops.
      if (reason === "stopping") return;
      const { cause } = failureDetails(failure);
      conditionOf(reason, { reason }, false).failed(() => ({ cause, ...firstOf(request) }));
    } else {
      const bug = `${operation} ${String(failure)}`;
      const kind = conditions.has(bug) || conditions.size < kindsMax ? bug : "other bugs";
      const error = failure instanceof Error ? failure.stack : String(failure);
      conditionOf(kind, { reason: "bug" }, true).failed(() => ({ error, ...firstOf(request) }));
    }
  }

  function endQuiet(): void {
    if (store.isFailing) return;
    for (const [kind, condition] of conditions) {
      condition.succeeded();
      if (!condition.isFailing) conditions.delete(kind);
    }
  }

  return { observe, stop: every(quietMs / 10, "counting failing requests", log, endQuiet) };
}

function firstOf({ requestId, operation, headers }: FinishedRequest): Record<string, unknown> {
  return { requestId, operation, traceId: traceIdOf(headers) };
}
