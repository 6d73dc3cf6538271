import type { CommittedGroup } from "../domain/commits/commits.ts";
import type { Registry } from "./registry.ts";
import { unavailableReason, unavailableReasons } from "./requests.ts";
import { metrics } from "./table.ts";

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
