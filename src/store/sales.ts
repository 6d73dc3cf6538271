import { quantityMax } from "../domain/ledger/inventory.ts";
import { dayMs } from "../domain/limits/limits.ts";
import { type SalesStore, type Sold, salesRowsMax } from "../domain/sales/sales.ts";
import type { Row } from "./rows.ts";
import { readPage, run, type Script, type ScriptsOf } from "./statements.ts";

function toSold(row: Row): Sold {
  return { petId: row[0] as bigint, units: Math.min(Number(row[1]), quantityMax) };
}

function* readCounter(name: string): Script<number> {
  const text = "SELECT value FROM counters WHERE name = $1";
  return Number((yield* run(text, [name]))[0]![0]);
}

export const salesReads: ScriptsOf<SalesStore, Exclude<keyof SalesStore, "addSales">> = {
  readSalesSeq: () => readCounter("sales"),
  readThresholdsVersion: () => readCounter("thresholds"),
  thresholdsAfter: (petId, petsMax) =>
    readPage(
      ([id, at]) => [id as bigint, Number(at)] as const,
      `SELECT pet_id, low_stock_at FROM pets
       WHERE low_stock_at IS NOT NULL AND pet_id >= $1::int8 ORDER BY pet_id LIMIT $2`,
      petId,
      [petsMax],
    ),
  // The plus keeps SQLite from the index by day, with which every page would read all pets.
  soldAfter: (petId, firstDay, petsMax) =>
    readPage(
      toSold,
      `SELECT pet_id, sum(units) FROM sales WHERE pet_id >= $1::int8 AND +day >= $3::int8
       GROUP BY pet_id ORDER BY pet_id LIMIT $2`,
      petId,
      [petsMax, firstDay],
    ),
};

const atMost = (units: string) =>
  `CASE WHEN ${units} > ${quantityMax} THEN ${quantityMax} ELSE ${units} END`;

/** Locks the position until the transaction ends. */
const lock = "UPDATE counters SET value = value WHERE name = 'sales' RETURNING value";
const findEnd = "SELECT max(seq) FROM ledger WHERE seq > $1::int8 AND seq <= $2::int8";
const add = `INSERT INTO sales (pet_id, day, units)
  SELECT pet_id, at / ${dayMs}, ${atMost("sum(quantity_before - quantity_after)")} FROM ledger
  WHERE seq > $1::int8 AND seq <= $2::int8 AND at / ${dayMs} >= $3::int8
    AND cause = 'api' AND quantity_after < quantity_before
  GROUP BY 1, 2
  ON CONFLICT (pet_id, day) DO UPDATE SET units = ${atMost("sales.units + excluded.units")}`;
const move = "UPDATE counters SET value = $1::int8 WHERE name = 'sales'";
const prune = `DELETE FROM sales WHERE (pet_id, day) IN (
  SELECT pet_id, day FROM sales WHERE day < $1::int8 ORDER BY day LIMIT ${salesRowsMax})`;

/** One transaction. */
export const salesWrites: ScriptsOf<SalesStore, "addSales"> = {
  *addSales(skipTo, firstDay) {
    const [[stored] = []] = yield* run(lock);
    const from = Math.max(Number(stored), skipTo);
    const [[end] = []] = yield* run(findEnd, [from, from + salesRowsMax]);
    const to = Number(end ?? from);
    yield* run(add, [from, to, firstDay]);
    yield* run(move, [to]);
    yield* run(prune, [firstDay]);
  },
};

/**
 * Says that thresholds have changed. Called after pets are written and before the audit log, so that
 * transactions lock in the same order.
 */
export function* touchThresholds(): Script<void> {
  yield* run("UPDATE counters SET value = value + 1 WHERE name = 'thresholds'");
}
