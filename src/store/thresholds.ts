import type { ThresholdStore } from "../domain/sales/thresholds.ts";
import { readAll, readPage, run, type Script, type ScriptsOf } from "./statements.ts";

export const thresholdReads: ScriptsOf<ThresholdStore, keyof ThresholdStore> = {
  *readThresholdsVersion() {
    const text = "SELECT value FROM counters WHERE name = 'thresholds'";
    return (yield* readAll(([value]) => Number(value), text))[0]!;
  },
  thresholdsAfter: (petId, petsMax) =>
    readPage(
      ([id, at]) => [id as bigint, Number(at)] as const,
      `SELECT pet_id, low_stock_at FROM pets
       WHERE low_stock_at IS NOT NULL AND pet_id >= $1::int8 ORDER BY pet_id LIMIT $2`,
      petId,
      [petsMax],
    ),
};

/**
 * Says that thresholds have changed. Called after pets are written and before the audit log, so that
 * transactions lock in the same order.
 */
export function* touchThresholds(): Script<void> {
  yield* run("UPDATE counters SET value = value + 1 WHERE name = 'thresholds'");
}
