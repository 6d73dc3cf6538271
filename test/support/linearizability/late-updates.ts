import type { History, Violation } from "./history.ts";

/**
 * Checks that an update whose client got an answer without an outcome was stored before every update
 * that began after that answer and was acknowledged. Otherwise it overwrote, or could overwrite, what a
 * client knew to be stored.
 */
export function checkLateUpdates({ updates, ledger }: History): Violation[] {
  const violations: Violation[] = [];
  const byId = new Map(updates.map((update) => [update.id, update]));
  /** Of the rows behind this one, the update of unknown outcome that was answered first. */
  let earliest: { id: string; end: number } | undefined;
  for (const row of ledger.toReversed()) {
    const update = byId.get(row.id);
    if (update?.outcome === "unknown") {
      if (earliest === undefined || update.end < earliest.end) earliest = update;
    } else if (update?.outcome === "acknowledged" && earliest && earliest.end < update.start) {
      const message = `Update ${earliest.id} was answered before ${update.id} began, and is stored after it`;
      violations.push({ kind: "late update", message });
    }
  }
  return violations;
}
