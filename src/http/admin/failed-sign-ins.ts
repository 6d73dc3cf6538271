import { every } from "../../domain/running/background.ts";
import type { Log } from "../../domain/running/events.ts";

const reportEveryMs = 60_000;

/** The number of lines in a minute. Further addresses are counted together. */
const addressesMax = 100;

/**
 * Logs wrong operator keys, once a minute with a line for each address. Requests without a key are not
 * counted: a browser whose session has ended sends them. The key is not logged, because it may be another
 * one of the same owner.
 */
export function createFailedSignIns(log: Log, everyMs = reportEveryMs) {
  const failures = new Map<string, number>();

  function report(): void {
    for (const [address, count] of failures) log("sign-ins failed", { address, failures: count });
    failures.clear();
  }

  const stopReports = every(everyMs, "counting failed sign-ins", log, report);
  return {
    /** Counts a request without a valid operator key or session. */
    count({ headers }: Pick<Request, "headers">, address: string): void {
      if (!headers.has("authorization")) return;
      const isSeparate = failures.has(address) || failures.size < addressesMax;
      const counted = isSeparate ? address : "others";
      failures.set(counted, (failures.get(counted) ?? 0) + 1);
    },
    /** Logs what has not been logged yet. */
    stop(): void {
      stopReports();
      report();
    },
  };
}
