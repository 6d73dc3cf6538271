import type { History, Update, Violation } from "./history.ts";

/**
 * Checks that an update whose client got an answer without an outcome was stored before every update
 * that began after that answer and was acknowledged. Otherwise it overwrote, or could overwrite, what a
 * client knew to be stored.
 */
export function checkLateUpdates({ updates, ledger }: History): Violation[] {
  const violations: Violation[] = [];
  const byId = new Map(updates.map((update) => [update.id, update]));
  /** Of the rows so far, the acknowledged update that began last. */
  let latest: Update | undefined;
  for (const row of ledger) {
    const update = byId.get(row.id);
    if (update?.outcome === "acknowledged") {
      if (latest === undefined || update.start > latest.start) latest = update;
    } else if (update?.outcome === "unknown" && latest && update.end < latest.start) {
      const message = `Update ${update.id} was answered before ${latest.id} began, and is stored after it`;
      violations.push({ kind: "late update", message });
    }
  }
  return violations;
}
