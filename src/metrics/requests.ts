import type { CommittedGroup } from "../domain/commits/commits.ts";
import {
  type ErrorCode,
  errorCodes,
  ServiceError,
  unavailableMessages,
} from "../domain/running/errors.ts";
import type { CountedRequest } from "../domain/running/requests.ts";
import type { Counter, Histogram, Registry } from "./registry.ts";
import { metrics } from "./table.ts";

interface OperationSeries {
  /** By class, from 2xx on. */
  readonly statuses: readonly Counter[];
  readonly durations: Histogram;
  readonly bytes: Counter;
}

/** The value of the label for paths and methods that do not exist. */
const noOperation = "none";

/**
 * Counts finished requests. All series exist from the start: an operation or a reason that has no
 * requests yet is 0, and nothing that a client sends becomes a label.
 */
export function createRequestMetrics(
  registry: Registry,
  operations: readonly string[],
): (request: CountedRequest) => void {
  const byOperation = new Map(operations.map((name) => [name, operationSeries(registry, name)]));
  const none = operationSeries(registry, noOperation);
  const refusals = createRefusals(registry);

  return ({ operation, status, durationMs, bytes, keyId, errorCode, failure }) => {
    const series = (operation !== undefined && byOperation.get(operation)) || none;
    series.statuses[Math.trunc(status / 100) - 2]!.value += 1;
    series.durations.observe(durationMs / 1_000);
    series.bytes.value += bytes;
    if (errorCode !== undefined) refusals(errorCode, keyId !== undefined, failure);
  };
}

function operationSeries(registry: Registry, name: string): OperationSeries {
  const statuses = ["2xx", "3xx", "4xx", "5xx"].map((status) =>
    registry.counter(metrics.requests, name, status),
  );
  return {
    statuses,
    durations: registry.histogram(metrics.requestDuration, name),
    bytes: registry.counter(metrics.responseBytes, name),
  };
}

/** Counts errors. 503 has the reason of the store, and 429 tells a key's limit from an address's. */
function createRefusals(registry: Registry) {
  const reasons: Partial<Record<ErrorCode, readonly string[]>> = {
    unavailable: unavailableReasons,
    rate_limit_exceeded: ["key", "address"],
  };
  const counters = new Map<string, Counter>();
  for (const code of errorCodes) {
    for (const reason of reasons[code] ?? [""]) {
      counters.set(`${code} ${reason}`, registry.counter(metrics.refusals, code, reason));
    }
  }
  return (code: ErrorCode, hasKey: boolean, failure: unknown) => {
    let reason = "";
    if (code === "unavailable") reason = unavailableReason(failure);
    if (code === "rate_limit_exceeded") reason = hasKey ? "key" : "address";
    counters.get(`${code} ${reason}`)!.value += 1;
  };
}

/** Counts transactions of updates. */
export function createCommitMetrics(registry: Registry): (group: CommittedGroup) => void {
  const durations = registry.histogram(metrics.commitDuration);
  const changesPerGroup = registry.histogram(metrics.commitChanges);
  const failures = new Map(
    unavailableReasons.map((reason) => [reason, registry.counter(metrics.commitFailures, reason)]),
  );
  return ({ changes, durationMs, error }) => {
    durations.observe(durationMs / 1_000);
    changesPerGroup.observe(changes);
    if (error !== undefined) failures.get(unavailableReason(error))!.value += 1;
  };
}

/** `other` is a failure without a reason, or a bug. */
const unavailableReasons: readonly string[] = [...Object.keys(unavailableMessages), "other"];

function unavailableReason(failure: unknown): string {
  return (failure instanceof ServiceError && failure.reason) || "other";
}
