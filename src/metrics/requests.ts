import {
  type ErrorCode,
  errorCodes,
  ServiceError,
  unavailableMessages,
} from "../domain/running/errors.ts";
import type { Counter, Histogram, Registry } from "./registry.ts";
import { metrics } from "./table.ts";

/** The fields of a finished request that are counted. */
export interface CountedRequest {
  readonly operation: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly bytes: number;
  readonly keyId: string | undefined;
  readonly errorCode: ErrorCode | undefined;
  readonly failure: unknown;
}

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
  const counters = new Map<string, Counter>();
  const add = (code: ErrorCode, reason: string) =>
    counters.set(`${code} ${reason}`, registry.counter(metrics.refusals, code, reason));
  for (const code of errorCodes) {
    if (code === "unavailable") for (const reason of unavailableReasons) add(code, reason);
    else if (code === "rate_limit_exceeded")
      for (const reason of ["key", "address"]) add(code, reason);
    else add(code, "");
  }
  return (code: ErrorCode, hasKey: boolean, failure: unknown) => {
    const reason =
      code === "unavailable"
        ? unavailableReason(failure)
        : code === "rate_limit_exceeded"
          ? hasKey
            ? "key"
            : "address"
          : "";
    counters.get(`${code} ${reason}`)!.value += 1;
  };
}

/** `other` is a failure without a reason, or a bug. */
export const unavailableReasons: readonly string[] = [...Object.keys(unavailableMessages), "other"];

export function unavailableReason(failure: unknown): string {
  return (failure instanceof ServiceError && failure.reason) || "other";
}
