import type { History, LedgerRow, Update, Violation } from "./history.ts";

/** Checks that the ledger is complete, has no gaps, and has an order that real time allows. */
export function checkLedger(history: History): Violation[] {
  return [...checkChain(history), ...checkRows(history), ...checkOrder(history)];
}

/** `seq` has no gaps, and each row starts from the result of the pet's previous row. */
function checkChain({ initial, initialSeq, ledger }: History): Violation[] {
  const violations: Violation[] = [];
  const quantities = new Map<bigint, number | null>(initial);
  let seq = initialSeq;
  for (const row of ledger) {
    if (row.seq !== ++seq) {
      violations.push({ kind: "gap", message: `Row ${row.seq} stands where ${seq} belongs` });
      seq = row.seq;
    }
    const before = quantities.get(row.petId) ?? null;
    if (row.quantityBefore !== before) {
      violations.push({
        kind: "wrong before",
        message: `Row ${row.seq} says pet ${row.petId} had ${row.quantityBefore}, it had ${before}`,
      });
    }
    quantities.set(row.petId, row.quantityAfter);
  }
  return violations;
}

/** Each acknowledged update has one row, each unknown one at most one, and no row is left. */
function checkRows({ updates, ledger }: History): Violation[] {
  const violations: Violation[] = [];
  const rows = Map.groupBy(ledger, (row) => row.id);
  for (const update of updates) {
    const found = rows.get(update.id) ?? [];
    rows.delete(update.id);
    if (found.length > 1) {
      const message = `Update ${update.id} is in rows ${found.map((row) => row.seq).join(", ")}`;
      violations.push({ kind: "duplicated update", message });
    }
    if (update.outcome === "acknowledged" && found.length === 0) {
      const message = `Update ${update.id} was acknowledged and is in no row`;
      violations.push({ kind: "lost update", message });
    }
    for (const row of found) {
      if (update.outcome === "refused") {
        const message = `Row ${row.seq} has update ${update.id}, whose client was told that it is not stored`;
        violations.push({ kind: "late update", message });
      } else if (!rowIsOf(row, update)) {
        const message = `Row ${row.seq} is not what update ${update.id} asked for`;
        violations.push({ kind: "unasked row", message });
      }
    }
  }
  for (const row of [...rows.values()].flat()) {
    violations.push({ kind: "unasked row", message: `Nobody asked for row ${row.seq}` });
  }
  return violations;
}

function rowIsOf(row: LedgerRow, update: Update): boolean {
  return row.petId === update.petId && row.quantityAfter === update.quantity;
}

/** An update acknowledged before another began has the smaller `seq`. */
function checkOrder({ updates, ledger }: History): Violation[] {
  const violations: Violation[] = [];
  const byId = new Map(updates.map((update) => [update.id, update]));
  let earliest: Update | undefined;
  for (const row of ledger.toReversed()) {
    const update = byId.get(row.id);
    if (update === undefined) continue;
    if (earliest !== undefined && earliest.end < update.start) {
      violations.push({
        kind: "wrong order",
        message: `Update ${update.id} began after ${earliest.id} was acknowledged and stands before it`,
      });
    }
    // The end of an update without a known outcome is no constraint here: see `checkLateUpdates`.
    if (update.outcome !== "acknowledged") continue;
    if (earliest === undefined || update.end < earliest.end) earliest = update;
  }
  return violations;
}
